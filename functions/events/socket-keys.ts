// Pure, because the CDK app reads it too: a function's role reaches these partitions and no others.

import type { Key } from '../platform/data/table.ts';
import type { ConnectionId } from '../platform/ids.ts';

export const TICKET_PARTITIONS = 'TICKET#*';
export const CONNECTION_PARTITIONS = 'CONNECTION#*';
export const TOPIC_PARTITIONS = 'TOPIC#*';
export const FOLLOWER_PARTITIONS = 'FOLLOWER#*';

export const ticketKey = (secretSha256: string): Key => ({ pk: `TICKET#${secretSha256}`, sk: 'TICKET' });

export const connectionKey = (id: ConnectionId): Key => ({ pk: `CONNECTION#${id}`, sk: 'CONNECTION' });

/** Which connections somebody has. */
export const followerKey = ({ kind, id }: { kind: string; id: string }): Key => ({
  pk: `FOLLOWER#${kind}#${id}`,
  sk: 'CONNECTIONS',
});

export const topicPartition = (topic: string): string => `TOPIC#${topic}`;

export const subscriptionKey = (topic: string, connectionId: ConnectionId): Key => ({
  pk: topicPartition(topic),
  sk: `CONNECTION#${connectionId}`,
});
