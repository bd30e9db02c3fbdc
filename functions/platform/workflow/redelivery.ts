// When a message that failed comes again.

/** A message that fails on its own does not succeed by more deliveries. */
const DELIVERIES_MAX = 5;
/** During an outage a message is retried for this long; stream records are kept as long. */
export const AGE_SECONDS_MAX = 6 * 3600;
const DELAY_SECONDS_MAX = 300;

export interface Failed {
  /** Whether there is an outage, rather than something wrong with this message. */
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
