import { setTimeout as pause } from 'node:timers/promises';

// A longer timer fires at once: Node keeps the delay in 31 bits.
const TIMER_MS_MAX = 2_147_483_647;

/** Waits for a moment on the wall clock, however far away. */
export async function sleepUntil(atMs: number, signal: AbortSignal): Promise<void> {
  for (let leftMs = atMs - Date.now(); leftMs > 0; leftMs = atMs - Date.now()) {
    await pause(Math.min(leftMs, TIMER_MS_MAX), undefined, { signal });
  }
  signal.throwIfAborted();
}
