// When a message that failed comes again. Rules only; nothing here knows AWS.

/** One that fails by itself will not succeed by being tried more often. */
const DELIVERIES_MAX = 5;
/** While something it needs is away, a message waits this long; the stream's records as long. */
export const AGE_SECONDS_MAX = 6 * 3600;
const DELAY_SECONDS_MAX = 300;

export interface Failed {
  /** Whether something that everybody needs is away, rather than something wrong with this message. */
  isOutage: boolean;
  deliveries: number;
  ageSeconds: number;
}

export type Delivery = 'given_up' | { afterSeconds: number };

export function deliveryAfter({ isOutage, deliveries, ageSeconds }: Failed): Delivery {
  const isOver = isOutage ? ageSeconds >= AGE_SECONDS_MAX : deliveries >= DELIVERIES_MAX;
  if (isOver) return 'given_up';
  return { afterSeconds: Math.min(2 ** Math.min(deliveries - 1, 20), DELAY_SECONDS_MAX) };
}

/** The queue's own limit: a message comes so often only when it kills its function each time. */
export const DELIVERIES_LIMIT = 100;
