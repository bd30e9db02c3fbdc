import { environment } from '../platform/environment.ts';
import type { Pointer } from '../platform/data/outbox.ts';
import { markDispatched } from './dispatch-store.ts';
import { sendAll } from './send-all.ts';

interface ReactionQueue {
  url: string;
  types: string[];
}

let queues: ReactionQueue[] | undefined;

/** The queue of each domain that reacts, and what it reacts to: from functions/events.ts, by the CDK app. */
function reactionQueues(): ReactionQueue[] {
  queues ??= JSON.parse(environment('REACTION_QUEUES')) as ReactionQueue[];
  return queues;
}

export const isReactedTo = (type: string): boolean =>
  reactionQueues().some(({ types }) => types.includes(type));

/** Sends each reacting domain pointers to its events, then records that it was notified. */
export async function dispatch(pointers: Pointer[], now: Date): Promise<void> {
  await Promise.all(
    reactionQueues().map(({ url, types }) =>
      sendAll(
        url,
        pointers.filter(({ type }) => types.includes(type)),
      ),
    ),
  );
  await markDispatched(
    pointers.filter(({ type }) => isReactedTo(type)).map(({ event_id }) => event_id),
    now,
  );
}
