import { setTimeout as wait } from 'node:timers/promises';

const FIRST_MS = 500;
const LAST_MS = 30_000;

/** Longer with each failure, and by chance: hosts that lost the platform at one moment do not return at one moment. */
export function backOffMs(failures: number, chance = Math.random): number {
  const most = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return most / 2 + (chance() * most) / 2;
}

/** Ends early, and without an error, when the signal is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
