// Pure, because the CDK app reads it too: a function's role reaches these partitions and no others.

import type { Key } from '../platform/data/table.ts';
import type { ConnectionId } from '../platform/ids.ts';

export const TICKET_PARTITIONS = 'TICKET#*';
export const CONNECTION_PARTITIONS = 'CONNECTION#*';
export const TOPIC_PARTITIONS = 'TOPIC#*';

export const ticketKey = (secretSha256: string): Key => ({ pk: `TICKET#${secretSha256}`, sk: 'TICKET' });

export const connectionKey = (id: ConnectionId): Key => ({ pk: `CONNECTION#${id}`, sk: 'CONNECTION' });

export const topicPartition = (topic: string): string => `TOPIC#${topic}`;

export const subscriptionKey = (topic: string, connectionId: ConnectionId): Key => ({
  pk: topicPartition(topic),
  sk: `CONNECTION#${connectionId}`,
});
