// Which names belong to a project: in the registry, in the object store, and to trust policies.

import type { VersionNumber } from '../platform/version-number.ts';

import type { AppSlug, ProjectSlug } from '../platform/name.ts';

import type { ProjectId } from '../platform/ids.ts';

/** Every app's images stand below this name, in repositories of the project that publishes it. */
export const NAMESPACE = 'gpuaas/apps';

export const repositoryOf = (projectSlug: ProjectSlug, appSlug: AppSlug): string =>
  `${NAMESPACE}/${projectSlug}/${appSlug}`;

export const imageUri = (repository: string, digest: string): string => `oci://${repository}@${digest}`;

/** The key of a file's object; the part after `artifact_store://` is the same. */
export const objectKeyOf = (file: {
  project_id: ProjectId;
  app_slug: AppSlug;
  app_version: VersionNumber;
  artifact_name: string;
  variant?: string;
}): string => {
  const { project_id, app_slug, app_version, artifact_name, variant } = file;
  const name = variant === undefined ? artifact_name : `${artifact_name}@${variant}`;
  return `${filesOf(project_id, app_slug)}${app_version}/${name}`;
};

/** Below it lie all files a project publishes for an app. */
export const filesOf = (projectId: ProjectId, appSlug: AppSlug): string =>
  `projects/${projectId}/artifacts/${appSlug}/`;

export const fileUri = (objectKey: string): string => `artifact_store://${objectKey}`;

/** Beside a file lie its signature and its provenance. No artifact's name has a dot. */
export const signatureKeyOf = (objectKey: string): string => `${objectKey}.jws.sig`;
export const provenanceKeyOf = (objectKey: string): string => `${objectKey}.intoto.dsse`;
