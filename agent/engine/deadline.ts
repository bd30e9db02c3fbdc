import { setTimeout as wait } from 'node:timers/promises';

/** What was begun goes on; whoever waits for it does not. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Once nobody waits for it, its failure is nobody's: unheard it would end the agent.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let leave: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Ends early, without a word, when it is aborted. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal }).catch(() => undefined);

/** Waits for all, also when one has failed: whoever undoes it must not undo what is only just being done. */
export async function settled<const T extends readonly Promise<unknown>[]>(work: T) {
  await Promise.allSettled(work);
  return Promise.all(work);
}
