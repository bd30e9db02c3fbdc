import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import { putNew, type Write } from '../platform/data/commit.ts';
import { queryAll, readItems } from '../platform/data/rows.ts';
import { putItem, readItem, takeItem, updateItem } from '../platform/data/table.ts';
import { type ConnectionId, textOf } from '../platform/ids.ts';
import { connectionKey, followerKey, subscriptionKey, ticketKey, topicPartition } from './socket-keys.ts';
import { Admission, CONNECTIONS_MAX, type TicketHolder, type Ticket } from './ticket.ts';

// A little more than the two hours after which the gateway closes any connection.
const CONNECTION_SECONDS = 2 * 3600 + 600;
const FOLLOWERS_MAX = 1_000;

const Admitted = v.object({ ...Admission.entries, expires_at: v.number() });
const Connections = v.object({ connections: v.optional(v.set(textOf<ConnectionId>()), new Set()) });
const Subscription = v.object({ ...Admitted.entries, connection_id: textOf<ConnectionId>() });

/** Somebody who follows a topic, on one connection. */
export type Follower = Admission & { connectionId: ConnectionId };

export function insertTicket({ secret, admission, expiresAt }: Ticket): Write {
  return putNew({ ...ticketKey(sha256(secret)), ...admission, expires_at: epochSeconds(expiresAt) });
}

/** Redeems a ticket: the first caller gets what it allows, and the ticket is deleted. */
export async function redeemTicket(secret: string, now: Date): Promise<Admission | undefined> {
  const ticket = await takeItem(ticketKey(sha256(secret)), {
    condition: 'expires_at > :now',
    values: { ':now': epochSeconds(now) },
  });
  return ticket && v.parse(Admission, ticket);
}

/** Whether its holder may have one more. One that is refused leaves nothing. */
export async function saveConnection(id: ConnectionId, admission: Admission, now: Date): Promise<boolean> {
  // First, so that whoever looks for connections that have ended does not take this for one.
  await putItem({ ...connectionKey(id), ...admission, expires_at: connectionExpiry(now) });
  const { holder } = admission;
  if (!holder || (await count(id, holder, now))) return true;
  if ((await forgetEnded(holder, now)) && (await count(id, holder, now))) return true;
  await takeItem(connectionKey(id));
  return false;
}

/** However many ask at once: the row counts them one after the other. */
function count(id: ConnectionId, holder: TicketHolder, now: Date): Promise<boolean> {
  return updateItem(followerKey(holder), {
    update: 'ADD connections :id SET expires_at = :expiry',
    condition: 'attribute_not_exists(connections) OR size(connections) < :max',
    values: { ':id': new Set([id]), ':expiry': connectionExpiry(now), ':max': CONNECTIONS_MAX },
  });
}

/** Whether there were some: the gateway need not tell of every connection that ends. */
async function forgetEnded(holder: TicketHolder, now: Date): Promise<boolean> {
  const { connections } = v.parse(Connections, (await readItem(followerKey(holder))) ?? {});
  const ids = [...connections];
  const rows = await readItems(ids.map(connectionKey));
  const ended = ids.filter((_, index) => !isLive(rows[index], now));
  if (ended.length > 0) await uncount(ended, holder);
  return ended.length > 0;
}

async function uncount(ids: ConnectionId[], holder: TicketHolder): Promise<void> {
  await updateItem(followerKey(holder), {
    update: 'DELETE connections :ids',
    condition: 'attribute_exists(pk)',
    values: { ':ids': new Set(ids) },
  });
}

/** What a connection may follow. */
export async function findConnection(id: ConnectionId, now: Date): Promise<Admission | undefined> {
  const item = await readItem(connectionKey(id));
  return item && isLive(item, now) ? v.parse(Admission, item) : undefined;
}

export async function subscribe(connectionId: ConnectionId, admission: Admission, now: Date): Promise<void> {
  await putItem({
    ...subscriptionKey(admission.topic, connectionId),
    ...admission,
    connection_id: connectionId,
    expires_at: connectionExpiry(now),
  });
}

/**
 * The followers of a topic. Read consistently: a client that subscribed before an event must receive it. DynamoDB
 * deletes expired items late, so they are skipped here.
 */
export async function followersOf(topic: string, now: Date): Promise<Follower[]> {
  const { items } = await queryAll({
    condition: 'pk = :topic',
    values: { ':topic': topicPartition(topic) },
    max: FOLLOWERS_MAX,
    consistent: true,
  });
  return items
    .map((item) => v.parse(Subscription, item))
    .filter(({ expires_at }) => expires_at > epochSeconds(now))
    .map((each) => ({ ...v.parse(Admission, each), connectionId: each.connection_id }));
}

/** The connection receives nothing more until it subscribes again. */
export async function dropSubscription({ connectionId, topic }: Follower): Promise<void> {
  await takeItem(subscriptionKey(topic, connectionId));
}

/** A connection that has ended, whatever it followed. */
export async function forgetConnection(id: ConnectionId, now: Date): Promise<void> {
  const admission = await findConnection(id, now);
  if (admission) await dropConnection(id, admission);
}

/** Its holder can open another one at once. */
export async function dropConnection(connectionId: ConnectionId, admission: Admission): Promise<void> {
  const { topic, holder } = admission;
  await takeItem(subscriptionKey(topic, connectionId));
  await takeItem(connectionKey(connectionId));
  if (holder) await uncount([connectionId], holder);
}

function isLive(connection: unknown, now: Date): boolean {
  const row = v.safeParse(Admitted, connection);
  return row.success && row.output.expires_at > epochSeconds(now);
}

function connectionExpiry(now: Date): number {
  return epochSeconds(secondsAfter(now, CONNECTION_SECONDS));
}

function sha256(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
