// Every partition of the control table on one page, with its owner: only the owner's functions may access it, except
// for the crossings listed in test/lib/partition-grants.test.ts. No function uses this.

import {
  ALLOCATION_PARTITIONS,
  CHANGING_VOLUMES,
  OPEN_ALLOCATIONS,
  projectAllocations,
  projectVolumes,
  SKU_PARTITION,
  VOLUME_PARTITIONS,
} from './allocations/keys.ts';
import {
  ARTIFACT_PARTITIONS,
  CONTENT_PARTITIONS,
  DUE_ARTIFACTS,
  projectArtifacts,
  TRUST_PARTITION,
} from './artifacts/keys.ts';
import { APP_PARTITIONS, CATALOG_PARTITION, ENTITLEMENT_PARTITIONS } from './catalog/keys.ts';
import { DISPATCHED_PARTITIONS, SWEEP_PARTITION } from './events/keys.ts';
import {
  CONNECTION_PARTITIONS,
  FOLLOWER_PARTITIONS,
  TICKET_PARTITIONS,
  TOPIC_PARTITIONS,
} from './events/socket-keys.ts';
import {
  INVITATION_PARTITIONS,
  ORG_SLUG_PARTITIONS,
  ORGS_PARTITION,
  PROJECT_SLUG_PARTITIONS,
} from './identity/keys.ts';
import { ASSERTION_PARTITIONS } from './identity/service-account-keys.ts';
import { OPEN_SUBMISSIONS, PROJECT_SUBMISSIONS_PARTITIONS, SUBMISSION_PARTITIONS } from './manifests/keys.ts';
import { NODE_PARTITIONS, NODES_PARTITION } from './nodes/keys.ts';
import {
  AUDIT_PARTITIONS,
  AUTHORIZATION_PARTITIONS,
  counterPartitions,
  FEED_PARTITIONS,
  ORG_PARTITIONS,
  OUTBOX_PARTITIONS,
  OUTBOX_SHARDS,
  PROJECT_PARTITIONS,
  RECEIPT_PARTITIONS,
} from './platform/data/keys.ts';
import { openPromotions, PROMOTION_POLICY_PARTITION, promotionPartitions } from './promotion/keys.ts';
import { INTENT_PARTITIONS, OPEN_INTENTS } from './publishing/keys.ts';
import { OPEN_SELFTESTS, SELFTEST_PARTITIONS } from './selftest/keys.ts';
import { REPOSITORY_PARTITION } from './storage/keys.ts';
import { OPEN_TASKS, SECRET_PARTITIONS, TASK_PARTITIONS } from './tasks/keys.ts';

interface Owned {
  table: readonly string[];
  /** The same rows by another key. */
  gsi1?: readonly string[];
}

export const PARTITIONS = {
  platform: {
    table: [
      AUDIT_PARTITIONS,
      OUTBOX_PARTITIONS,
      RECEIPT_PARTITIONS,
      counterPartitions('project'),
      counterPartitions('version'),
    ],
    gsi1: [AUDIT_PARTITIONS, ...OUTBOX_SHARDS],
  },
  identity: {
    table: [
      ...AUTHORIZATION_PARTITIONS,
      ORG_SLUG_PARTITIONS,
      PROJECT_SLUG_PARTITIONS,
      INVITATION_PARTITIONS,
      ASSERTION_PARTITIONS,
    ],
    gsi1: [ORGS_PARTITION, ORG_PARTITIONS, PROJECT_PARTITIONS],
  },
  events: {
    table: [
      FEED_PARTITIONS,
      DISPATCHED_PARTITIONS,
      SWEEP_PARTITION,
      TICKET_PARTITIONS,
      CONNECTION_PARTITIONS,
      TOPIC_PARTITIONS,
      FOLLOWER_PARTITIONS,
    ],
  },
  catalog: { table: [CATALOG_PARTITION, APP_PARTITIONS, ENTITLEMENT_PARTITIONS] },
  manifests: {
    table: [SUBMISSION_PARTITIONS, OPEN_SUBMISSIONS],
    gsi1: [PROJECT_SUBMISSIONS_PARTITIONS],
  },
  promotion: {
    table: [promotionPartitions('version'), promotionPartitions('artifact'), PROMOTION_POLICY_PARTITION],
    gsi1: [openPromotions('version'), openPromotions('artifact')],
  },
  nodes: { table: [NODE_PARTITIONS], gsi1: [NODES_PARTITION] },
  tasks: { table: [TASK_PARTITIONS, SECRET_PARTITIONS], gsi1: [OPEN_TASKS] },
  publishing: { table: [INTENT_PARTITIONS], gsi1: [OPEN_INTENTS] },
  artifacts: {
    table: [ARTIFACT_PARTITIONS, CONTENT_PARTITIONS, TRUST_PARTITION],
    gsi1: [projectArtifacts('*'), DUE_ARTIFACTS],
  },
  allocations: {
    table: [SKU_PARTITION, ALLOCATION_PARTITIONS, VOLUME_PARTITIONS],
    gsi1: [projectAllocations('*'), OPEN_ALLOCATIONS, projectVolumes('*'), CHANGING_VOLUMES],
  },
  storage: { table: [REPOSITORY_PARTITION] },
  selftest: { table: [SELFTEST_PARTITIONS], gsi1: [OPEN_SELFTESTS] },
} as const satisfies Record<string, Owned>;
