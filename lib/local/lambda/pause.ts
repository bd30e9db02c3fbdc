import { setTimeout as wait } from 'node:timers/promises';

/** Waits, or returns early when the signal says that nobody cares any more. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
