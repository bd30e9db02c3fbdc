// Partitions the kernel itself writes. Pure, because the CDK app reads it too: a function's role reaches these
// partitions with exactly the actions the kernel needs there.

import { hash } from 'node:crypto';
import type {
  AuditId,
  EventId,
  NodeId,
  OrgId,
  PlaceId,
  ProjectId,
  ServiceAccountId,
  UserId,
} from '../ids.ts';
import type { Key } from './table.ts';

export const AUDIT_PARTITIONS = 'AUDIT#*';
export const OUTBOX_PARTITIONS = 'OUTBOX#*';
export const RECEIPT_PARTITIONS = 'RECEIPT#*';
export const FEED_PARTITIONS = 'FEED#*';
/** Rows of the outbox by when they were written, in gsi1, over a few partitions. */
export const OUTBOX_SHARDS = [
  'OUTBOX#SHARD#0',
  'OUTBOX#SHARD#1',
  'OUTBOX#SHARD#2',
  'OUTBOX#SHARD#3',
] as const;

/** How many instances there are, in a row for each thing that is asked about: a project, a version. */
export const counterPartitions = (of: 'project' | 'version'): string => `COUNTER#${of}#*`;
export const projectCounterKey = (id: ProjectId): Key => ({ pk: `COUNTER#project#${id}`, sk: 'INSTANCES' });

/** What authorization reads: only identity may write there, but for who a node is, which is known where nodes join. */
export const USER_PARTITIONS = 'USER#*';
export const SERVICE_ACCOUNT_PARTITIONS = 'SERVICE_ACCOUNT#*';
export const NODE_PRINCIPAL_PARTITIONS = 'NODE_PRINCIPAL#*';
export const PROJECT_PARTITIONS = 'PROJECT#*';
export const ORG_PARTITIONS = 'ORG#*';
export const SIGNING_PARTITION = 'SIGNING';
export const AUTHORIZATION_PARTITIONS = [
  USER_PARTITIONS,
  SERVICE_ACCOUNT_PARTITIONS,
  NODE_PRINCIPAL_PARTITIONS,
  PROJECT_PARTITIONS,
  ORG_PARTITIONS,
  SIGNING_PARTITION,
] as const;

/** Marks an outbox row in the table's stream. */
export const OUTBOX_KIND = 'event';

export const PLATFORM = 'platform' satisfies PlaceId;

/** The place whose audit log and event feed a change belongs to: a project, an organisation, or the platform. */
export function placeId({ org_id, project_id }: { org_id?: OrgId; project_id?: ProjectId }): PlaceId {
  return project_id ?? org_id ?? PLATFORM;
}

export const auditKey = (place: PlaceId, id: AuditId): Key => ({ pk: `AUDIT#${place}`, sk: id });
/** All audit rows of a month, across places, in gsi1: over a few partitions, as every change of the platform adds to them. */
export const AUDIT_SHARDS = [0, 1, 2, 3] as const;
export const auditMonth = (time: string, shard: number): string => `AUDIT#MONTH#${time.slice(0, 7)}#${shard}`;
export const auditShard = (id: AuditId): number => spread(id, AUDIT_SHARDS.length);

export const outboxKey = (place: PlaceId, id: EventId): Key => ({ pk: `OUTBOX#${place}`, sk: id });

/** All events of a place are in one shard, so that whoever reads it finds them in order. */
export const outboxShard = (place: PlaceId): string =>
  OUTBOX_SHARDS[spread(place, OUTBOX_SHARDS.length)] ?? OUTBOX_SHARDS[0];

const spread = (text: string, over: number): number => parseInt(hash('sha256', text).slice(0, 2), 16) % over;

export const feedPartition = (place: PlaceId): string => `FEED#${place}`;
export const feedKey = (place: PlaceId, sequence: number): Key => ({
  pk: feedPartition(place),
  sk: `EVENT#${feedPosition(sequence)}`,
});
export const feedHeadKey = (place: PlaceId): Key => ({ pk: feedPartition(place), sk: 'HEAD' });
/** Positions sort as text. */
export const feedPosition = (sequence: number): string => String(sequence).padStart(15, '0');

export const receiptKey = (actor: string, idempotencyKey: string): Key => ({
  pk: `RECEIPT#${hash('sha256', `${actor}\n${idempotencyKey}`)}`,
  sk: 'RECEIPT',
});

export const userKey = (id: UserId): Key => ({ pk: `USER#${id}`, sk: 'USER' });
export const serviceAccountKey = (id: ServiceAccountId): Key => ({
  pk: `SERVICE_ACCOUNT#${id}`,
  sk: 'SERVICE_ACCOUNT',
});
export const nodePrincipalKey = (id: NodeId): Key => ({ pk: `NODE_PRINCIPAL#${id}`, sk: 'NODE_PRINCIPAL' });
/** Whoever holds the row of a key holds the key: it is no other node's. */
export const nodeKeyHolderKey = (thumbprint: string): Key => ({
  pk: `NODE_PRINCIPAL#KEY#${thumbprint}`,
  sk: 'KEY',
});
export const projectKey = (id: ProjectId): Key => ({ pk: `PROJECT#${id}`, sk: 'PROJECT' });
export const orgKey = (id: OrgId): Key => ({ pk: `ORG#${id}`, sk: 'ORG' });
export const signingKey = (): Key => ({ pk: SIGNING_PARTITION, sk: 'KEYS' });
