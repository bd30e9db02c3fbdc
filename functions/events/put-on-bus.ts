import { PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { eventBridge } from '../platform/clients.ts';
import { type Clock, secondsAfter } from '../platform/clock.ts';
import { environment } from '../platform/environment.ts';
import { isOutage } from '../platform/workflow/outage.ts';
import type { FeedEvent } from './feed.ts';
import { refuse } from './problems.ts';

const SOURCE = 'gpuaas';
const ENTRIES_MAX = 10;
/** EventBridge takes 256 kB in one request, and counts more than the text. */
const CHARACTERS_MAX = 200 * 1024;
/** Error codes of an entry that may succeed later. */
const FOR_NOW = /Throttl|Internal|Unavailable|Timeout/i;

export interface OnBus {
  /** The last event the bus accepted or rejected, in order. */
  reached?: FeedEvent;
  /** Events the bus rejects for good. */
  refused: FeedEvent[];
  /** Why the rest has to wait. */
  outage?: unknown;
}

/** After an outage the bus is not called for a moment: feeds must not wait for it with every batch. */
const REST_SECONDS = 5;
let restsUntil = new Date(0);

/** As in a function that has just started. */
export const askBusAgain = (): void => void (restsUntil = new Date(0));

/** Puts events on the bus, in order, as far as it takes them. */
export async function putOnBus(events: FeedEvent[], now: Clock): Promise<OnBus> {
  const onBus: OnBus = { refused: [] };
  if (now() < restsUntil) return { ...onBus, outage: 'The bus was unavailable a moment ago.' };
  try {
    for (const some of requestsOf(events)) await putSome(some, onBus);
  } catch (error) {
    if (!isOutage(error)) throw error;
    restsUntil = secondsAfter(now(), REST_SECONDS);
    onBus.outage = error;
  }
  return onBus;
}

async function putSome(events: FeedEvent[], onBus: OnBus): Promise<void> {
  const { Entries = [] } = await eventBridge().send(new PutEventsCommand({ Entries: events.map(entryOf) }));
  for (const [index, event] of events.entries()) {
    const { ErrorCode } = Entries[index] ?? {};
    if (ErrorCode !== undefined && FOR_NOW.test(ErrorCode))
      throw refuse('unavailable', { detail: `The bus did not accept the event: ${ErrorCode}.` });
    if (ErrorCode !== undefined) onBus.refused.push(event);
    onBus.reached = event;
  }
}

const entryOf = (event: FeedEvent): PutEventsRequestEntry => ({
  EventBusName: environment('EVENT_BUS_NAME'),
  Source: SOURCE,
  DetailType: event.type,
  Time: new Date(event.occurred_at),
  Detail: JSON.stringify(event),
});

/** By ten, and no more than fits into one request. */
function requestsOf(events: FeedEvent[]): FeedEvent[][] {
  const requests: FeedEvent[][] = [];
  let characters = 0;
  for (const event of events) {
    const more = JSON.stringify(event).length;
    const last = requests.at(-1);
    const isFull = !last || last.length === ENTRIES_MAX || characters + more > CHARACTERS_MAX;
    characters = isFull ? more : characters + more;
    if (isFull) requests.push([event]);
    else last.push(event);
  }
  return requests;
}
