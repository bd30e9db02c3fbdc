// Where artifacts are kept. Pure, because the CDK app reads it too: a function's role reaches these partitions and no
// others.

import type { Key } from '../platform/data/table.ts';
import type { AppInstanceId, ArtifactId, ProjectId } from '../platform/ids.ts';

/** An artifact, and when it is to be verified again. Its row's own key the catalogue knows too: artifact-id.ts. */
export const ARTIFACT_PARTITIONS = 'ARTIFACT#*';

/** What has a digest: in which projects it is registered, and which instances run it. */
export const CONTENT_PARTITIONS = 'CONTENT#*';

/** Trust policies, revoked certificates, and a number that counts their changes: all of them are one read. */
export const TRUST_PARTITION = 'TRUST';

/** Artifacts the platform will look at again by itself, in gsi1, by when. */
export const DUE_ARTIFACTS = 'ARTIFACTS#DUE';

/** The artifacts of a project, in gsi1, by app, version and age. */
export const projectArtifacts = (projectId: ProjectId): string => `ARTIFACTS#${projectId}`;

/** When the platform looks at it again by itself; apart from it, as each row stands in one list. */
export const dueKey = (id: ArtifactId): Key => ({ pk: `ARTIFACT#${id}`, sk: 'DUE' });

export const contentPartition = (digest: string): string => `CONTENT#${digest}`;
export const PROJECT_ROWS = 'PROJECT#';
export const INSTANCE_ROWS = 'INSTANCE#';
/** Which artifacts of a project are these bytes. */
export const contentKey = (digest: string, projectId: ProjectId): Key => ({
  pk: contentPartition(digest),
  sk: `${PROJECT_ROWS}${projectId}`,
});
/** That a project revoked these bytes: they are never registered there again. */
export const revokedContentKey = (digest: string, projectId: ProjectId): Key => ({
  pk: contentPartition(digest),
  sk: `${REVOKED_ROWS}${projectId}`,
});
/** An instance that runs these bytes: it puts this row as it starts and takes it away as it ends. */
export const instanceUseKey = (digest: string, instanceId: AppInstanceId): Key => ({
  pk: contentPartition(digest),
  sk: `${INSTANCE_ROWS}${instanceId}`,
});

/** How far the stopping of what runs an artifact has come; with the bytes, so that it is read with who runs them. */
export const STOPPING_ROWS = 'STOPPING#';
export const stoppingKey = (digest: string, id: ArtifactId): Key => ({
  pk: contentPartition(digest),
  sk: `${STOPPING_ROWS}${id}`,
});

export const POLICY_ROWS = 'POLICY#';
export const REVOKED_ROWS = 'REVOKED#';
export const trustHeadKey = (): Key => ({ pk: TRUST_PARTITION, sk: 'HEAD' });
export const trustPolicyKey = (name: string): Key => ({ pk: TRUST_PARTITION, sk: `${POLICY_ROWS}${name}` });
export const revokedCertificateKey = (fingerprint: string): Key => ({
  pk: TRUST_PARTITION,
  sk: `${REVOKED_ROWS}${fingerprint}`,
});
