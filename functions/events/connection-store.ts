import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import { putNew, type Write } from '../platform/data/commit.ts';
import { queryAll } from '../platform/data/rows.ts';
import { putItem, readItem, takeItem } from '../platform/data/table.ts';
import { type ConnectionId, textOf } from '../platform/ids.ts';
import { connectionKey, subscriptionKey, ticketKey, topicPartition } from './socket-keys.ts';
import { type Admission, TicketHolder, type Ticket } from './ticket.ts';

// A little more than the two hours after which the gateway closes any connection.
const CONNECTION_SECONDS = 2 * 3600 + 600;
const FOLLOWERS_MAX = 1_000;

const Admitted = v.object({ topic: v.string(), holder: v.optional(TicketHolder), expires_at: v.number() });
const Subscription = v.object({ ...Admitted.entries, connection_id: textOf<ConnectionId>() });

/** Somebody who follows a topic, on one connection. */
export interface Follower extends Admission {
  connectionId: ConnectionId;
}

export function insertTicket({ secret, topic, holder, expiresAt }: Ticket): Write {
  return putNew({ ...ticketKey(sha256(secret)), topic, holder, expires_at: epochSeconds(expiresAt) });
}

/** Redeems a ticket: the first caller gets what it allows, and the ticket is deleted. */
export async function redeemTicket(secret: string, now: Date): Promise<Admission | undefined> {
  const ticket = await takeItem(ticketKey(sha256(secret)), {
    condition: 'expires_at > :now',
    values: { ':now': epochSeconds(now) },
  });
  return ticket && admissionOf(v.parse(Admitted, ticket));
}

export async function saveConnection(
  id: ConnectionId,
  { topic, holder }: Admission,
  now: Date,
): Promise<void> {
  await putItem({ ...connectionKey(id), topic, holder, expires_at: connectionExpiry(now) });
}

/** What a connection may follow. */
export async function findConnection(id: ConnectionId, now: Date): Promise<Admission | undefined> {
  const item = await readItem(connectionKey(id));
  if (!item) return undefined;
  const connection = v.parse(Admitted, item);
  return connection.expires_at > epochSeconds(now) ? admissionOf(connection) : undefined;
}

export async function subscribe(
  connectionId: ConnectionId,
  { topic, holder }: Admission,
  now: Date,
): Promise<void> {
  await putItem({
    ...subscriptionKey(topic, connectionId),
    topic,
    holder,
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
    .map((each) => ({ ...admissionOf(each), connectionId: each.connection_id }));
}

/** The connection receives nothing more until it subscribes again. */
export async function dropSubscription({ connectionId, topic }: Follower): Promise<void> {
  await takeItem(subscriptionKey(topic, connectionId));
}

export async function dropConnection(connectionId: ConnectionId, topic: string): Promise<void> {
  await takeItem(subscriptionKey(topic, connectionId));
  await takeItem(connectionKey(connectionId));
}

function admissionOf({ topic, holder }: v.InferOutput<typeof Admitted>): Admission {
  return { topic, ...(holder && { holder }) };
}

function connectionExpiry(now: Date): number {
  return epochSeconds(secondsAfter(now, CONNECTION_SECONDS));
}

function sha256(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
