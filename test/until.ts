import { setTimeout as wait } from 'node:timers/promises';

/** Where something is broken on purpose, nobody waits as long for it. */
export const PATIENCE = 'TEST_PATIENCE';
const patience = Number(process.env[PATIENCE] ?? 1);

/** Waits for a condition, never for a time: returns the first value that is neither undefined nor false. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  what = look.toString(),
  secondsMax = 30,
): Promise<T> {
  const deadline = Date.now() + secondsMax * patience * 1000;
  while (Date.now() < deadline) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await wait(20);
  }
  throw new Error(`Waited ${secondsMax * patience} s in vain for ${what}.`);
}
