import { isBusy } from '../aws-errors.ts';

/** Long enough for a contended row to become free, short enough for a waiting caller. */
const RETRIED_MS_MAX = 4_000;
const PAUSE_MS_FIRST = 20;
const PAUSE_MS_MAX = 500;

/**
 * Tries again while the error is one that may pass, for a few seconds, with random pauses that grow; then the last error
 * stands. The edge ends a call that takes too long altogether.
 */
export async function retrying<T>(once: () => Promise<T>, mayPass: (error: unknown) => boolean): Promise<T> {
  const endsMs = performance.now() + RETRIED_MS_MAX;
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await once();
    } catch (error) {
      const pauseMs = Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** attempts);
      if (!mayPass(error) || performance.now() + pauseMs > endsMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** Makes a request of DynamoDB again while it is too busy, or while somebody's transaction holds the item. */
export const retryingBusy = <T>(send: () => Promise<T>): Promise<T> => retrying(send, isBusy);

/** DynamoDB did only a part of a batch. */
class Unprocessed extends Error {
  override name = 'Unprocessed';
}

/** Sends a batch, and then again what DynamoDB left undone of it, and only that. */
export async function sendingAll<T>(
  batch: T[],
  send: (some: T[]) => Promise<T[] | undefined>,
): Promise<void> {
  let left = batch;
  await retryingBusy(async () => {
    left = (await send(left)) ?? [];
    if (left.length > 0) throw new Unprocessed(`DynamoDB left ${left.length} of ${batch.length} undone.`);
  });
}
