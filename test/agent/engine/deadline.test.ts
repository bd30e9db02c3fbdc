import { expect, test } from 'vitest';
import { orAborted } from '../../../agent/engine/deadline.ts';

test('what fails after nobody waits for it any more disturbs nobody', async () => {
  const unheard: unknown[] = [];
  const hear = (error: unknown) => void unheard.push(error);
  process.on('unhandledRejection', hear);
  try {
    const late = Promise.withResolvers<void>();
    const work = orAborted(late.promise, AbortSignal.abort(new Error('The time is over.')));
    await expect(work).rejects.toThrow('The time is over.');
    late.reject(new Error('It failed.'));
    // Node tells of it after the microtasks of the turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unheard).toEqual([]);
  } finally {
    process.off('unhandledRejection', hear);
  }
});
