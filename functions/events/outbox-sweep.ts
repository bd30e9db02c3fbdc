// What the sweep of the outbox looks at, and what it finds wrong.

import { secondsAfter } from '../platform/clock.ts';
import type { Pointer } from '../platform/data/outbox.ts';
import type { EventId, PlaceId } from '../platform/ids.ts';

/** Time enough for relay and dispatcher, even under load. Older rows were missed. */
const GRACE_SECONDS = 15 * 60;

/** A row of the outbox, and whether it was dispatched and relayed. */
export interface Swept {
  place: PlaceId;
  event_id: EventId;
  /** Nothing where the row is no event. */
  pointer?: Pointer;
  isReactedTo: boolean;
  isDispatched: boolean;
  /** Its number on the feed of its place. */
  sequence?: number;
  /** Up to which number the feed was put on the bus. */
  relayed: number;
}

export const isUnrelayed = ({ sequence, relayed }: Swept): boolean =>
  sequence === undefined || sequence > relayed;

export const isUndispatched = ({ isReactedTo, isDispatched }: Swept): boolean => isReactedTo && !isDispatched;

/** Ids begin with the time they were made at (RFC 9562 §5.7); this one is less than any made after the grace began. */
export function sweepBefore(now: Date): string {
  const ms = secondsAfter(now, -GRACE_SECONDS).getTime().toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-000000000000`;
}
