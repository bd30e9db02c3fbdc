import { expect, test } from 'vitest';
import { Locks } from '../../../agent/engine/locks.ts';

test('of one workload one after the other, of two at the same time', async () => {
  const locks = new Locks();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = locks.task('a', async () => {
    await first.promise;
    order.push('a1');
  });
  const two = locks.task('a', async () => void order.push('a2'));
  await locks.task('b', async () => void order.push('b'));
  first.resolve();
  await Promise.all([one, two]);
  expect(order).toEqual(['b', 'a1', 'a2']);
});

test('what goes on or waits in the background gives way to a task', async () => {
  const locks = new Locks();
  const begun = Promise.withResolvers<void>();
  const background = locks.background(
    'a',
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        begun.resolve();
      }),
  );
  await begun.promise;
  let hasRun = false;
  const waiting = locks.background('a', async () => {
    hasRun = true;
  });
  expect(await locks.task('a', async () => 'done')).toBe('done');
  await Promise.all([background, waiting]);
  expect(hasRun).toBe(false);
});

test('a failure of one does not hold up the next', async () => {
  const locks = new Locks();
  const failing = locks.task('a', () => Promise.reject(new Error('no')));
  const next = locks.task('a', async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
});
