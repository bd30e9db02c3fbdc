// Where artifacts are kept. Pure, because the CDK app reads it too: a function's role reaches these partitions and no
// others.

import { hash } from 'node:crypto';
import { versionSortKey } from '../platform/version-number.ts';
import { projectKey } from '../platform/data/keys.ts';
import type { Key } from '../platform/data/table.ts';

/** An artifact, its promotion, and when it is to be verified again. */
export const ARTIFACT_PARTITIONS = 'ARTIFACT#*';

/** What has a digest: in which projects it is registered, and which instances run it. */
export const CONTENT_PARTITIONS = 'CONTENT#*';

/** Trust policies, revoked certificates, and a number that counts their changes: all of them are one read. */
export const TRUST_PARTITION = 'TRUST';

/** Repositories that were made for projects, one row each. */
export const REPOSITORY_PARTITION = 'REPOSITORIES';

/** Intents that are still open, in gsi1, by when they expire. */
export const OPEN_INTENTS = 'INTENTS#OPEN';

/** Artifacts the platform will look at again by itself, in gsi1, by when. */
export const DUE_ARTIFACTS = 'ARTIFACTS#DUE';

/** The artifacts of a project, in gsi1, by app, version and age. */
export const projectArtifacts = (projectId: string): string => `ARTIFACTS#${projectId}`;

/** What an artifact is: these bytes under this name, for this version, in this repository. */
export interface Named {
  repository: string;
  app_version: string;
  artifact_name: string;
  variant?: string;
  digest: string;
}

/**
 * Derived from what it names, so that registering it twice is registering it once, and a version that names the same
 * finds it without looking. A UUID of version 8: RFC 9562 leaves its bits to us.
 */
export function artifactIdOf({
  repository,
  app_version,
  artifact_name,
  variant = '',
  digest,
}: Named): string {
  const name = [repository, versionSortKey(app_version), artifact_name, variant, digest].join('\n');
  const hex = hash('sha256', name).slice(0, 32);
  const clock = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${clock}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-');
}

export const artifactKey = (id: string): Key => ({ pk: `ARTIFACT#${id}`, sk: 'ARTIFACT' });
export const artifactPromotionKey = (id: string): Key => ({ pk: `ARTIFACT#${id}`, sk: 'PROMOTION' });

/** When the platform looks at it again by itself; apart from it, as each row stands in one list. */
export const dueKey = (id: string): Key => ({ pk: `ARTIFACT#${id}`, sk: 'DUE' });

export const contentPartition = (digest: string): string => `CONTENT#${digest}`;
export const PROJECT_ROWS = 'PROJECT#';
export const INSTANCE_ROWS = 'INSTANCE#';
/** Which artifacts of a project are these bytes. */
export const contentKey = (digest: string, projectId: string): Key => ({
  pk: contentPartition(digest),
  sk: `${PROJECT_ROWS}${projectId}`,
});
/** That a project revoked these bytes: they are never registered there again. */
export const revokedContentKey = (digest: string, projectId: string): Key => ({
  pk: contentPartition(digest),
  sk: `${REVOKED_ROWS}${projectId}`,
});
/** An instance that runs these bytes: it puts this row as it starts and takes it away as it ends. */
export const instanceUseKey = (digest: string, instanceId: string): Key => ({
  pk: contentPartition(digest),
  sk: `${INSTANCE_ROWS}${instanceId}`,
});

export const POLICY_ROWS = 'POLICY#';
export const REVOKED_ROWS = 'REVOKED#';
export const trustHeadKey = (): Key => ({ pk: TRUST_PARTITION, sk: 'HEAD' });
export const trustPolicyKey = (name: string): Key => ({ pk: TRUST_PARTITION, sk: `${POLICY_ROWS}${name}` });
export const revokedCertificateKey = (fingerprint: string): Key => ({
  pk: TRUST_PARTITION,
  sk: `${REVOKED_ROWS}${fingerprint}`,
});

export const repositoryKey = (name: string): Key => ({ pk: REPOSITORY_PARTITION, sk: name });

export const intentKey = (projectId: string, id: string): Key => ({
  pk: projectKey(projectId).pk,
  sk: `INTENT#${id}`,
});
