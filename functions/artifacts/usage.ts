// Who uses the bytes of an artifact: versions that name it, projects that have registered it or run it, and what runs
// there.

import * as v from 'valibot';
import { STATUSES } from '../promotion/status.ts';
import type { Version } from '../catalog/version.ts';
import { type AppInstanceId, type ArtifactId, type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import type { AppSlug } from '../platform/name.ts';
import { compareVersions, type VersionNumber } from '../platform/version-number.ts';
import { type Grant, judge } from '../platform/permissions.ts';
import type { Artifact } from './artifact.ts';
import { isBound } from './artifact-binding.ts';

/** How many rows are read for one answer; the answer says if there are more. */
export const USES_MAX = 1000;

/** An instance that runs the bytes; it says so itself, as it starts. */
export const InstanceUse = v.object({
  app_instance_id: textOf<AppInstanceId>(),
  org_id: textOf<OrgId>(),
  project_id: textOf<ProjectId>(),
  app_slug: textOf<AppSlug>(),
  app_version: textOf<VersionNumber>(),
  started_at: v.string(),
  /** Somebody has asked it to stop, as what it runs was revoked. */
  stop_requested_at: v.optional(v.string()),
});
export type InstanceUse = v.InferOutput<typeof InstanceUse>;

/** A project in which the bytes are registered, and under which ids. */
export interface ContentHolder {
  project_id: ProjectId;
  artifact_ids: ArtifactId[];
}

/** How far the stopping of what runs a revoked artifact has come. */
const Stopping = v.object({
  status: v.picklist(['running', 'done', 'failed']),
  /** How many instances were asked to stop. */
  instance_count: v.number(),
  started_at: v.string(),
  updated_at: v.string(),
});
export const StoppingRow = v.object({ artifact_id: textOf<ArtifactId>(), ...Stopping.entries });

/** Every use of the bytes, as far as the rows were read. */
export interface Uses {
  holders: ContentHolder[];
  instances: InstanceUse[];
  stoppings: v.InferOutput<typeof StoppingRow>[];
  isTruncated: boolean;
}

/** Whether the instance runs the bytes as this artifact, and not as that of another app or version. */
export const runs = (instance: InstanceUse, artifact: Pick<Artifact, 'app_slug' | 'app_version'>): boolean =>
  instance.app_slug === artifact.app_slug &&
  compareVersions(instance.app_version, artifact.app_version) === 0;

const VersionUse = v.object({
  app_slug: textOf<AppSlug>(),
  version: textOf<VersionNumber>(),
  status: v.picklist(STATUSES),
});

const ProjectUse = v.object({
  project_id: textOf<ProjectId>(),
  /** Whether the bytes are registered there too. */
  is_registered: v.boolean(),
  instance_count: v.number(),
});

/** Uses in other projects are only counted for callers who may not see those projects. */
const used = {
  versions: v.array(VersionUse),
  projects: v.array(ProjectUse),
  instances: v.array(v.omit(InstanceUse, ['org_id'])),
  others: v.object({ project_count: v.number(), instance_count: v.number() }),
  /** There were more rows than were read; the counts cover only those. */
  truncated: v.boolean(),
};

export const UsageView = v.object({
  artifact_id: textOf<ArtifactId>(),
  digest: v.string(),
  ...used,
  /** Once the artifact was revoked with the wish to stop what runs it. */
  stopping: v.optional(Stopping),
});
export type UsageView = v.InferOutput<typeof UsageView>;

export const RevocationPreview = v.object({
  /** The artifact, and all others of the same bytes in the project. */
  artifact_ids: v.array(textOf<ArtifactId>()),
  digest: v.string(),
  ...used,
});

/** The versions that name one of the artifacts. */
export function versionsUsing(
  artifacts: Artifact[],
  versions: Version[],
): v.InferOutput<typeof VersionUse>[] {
  return versions
    .filter((version) => artifacts.some((artifact) => isBound({ version }, artifact)))
    .map(({ app_slug, version, status }) => ({ app_slug, version, status }));
}

/** The projects the caller may see: the one they ask in, or all for platform admins. */
export function shownTo(grants: Grant[], projectId: ProjectId): (id: ProjectId) => boolean {
  const ofPlatform = judge(grants, 'apps.catalog.publish', {}) === 'allowed';
  return (id) => ofPlatform || id === projectId;
}

/** As the caller may see it: their own part by name, and the rest as numbers. */
export function viewUses(
  { holders, instances, isTruncated }: Omit<Uses, 'stoppings'>,
  isShown: (projectId: ProjectId) => boolean,
): Omit<UsageView, 'artifact_id' | 'digest' | 'versions' | 'stopping'> {
  const ids = new Set([...holders, ...instances].map(({ project_id }) => project_id));
  const running = Map.groupBy(instances, ({ project_id }) => project_id);
  const [own, others] = part([...ids], isShown);
  const [ownInstances, otherInstances] = part(instances, ({ project_id }) => isShown(project_id));
  return {
    projects: own.map((id) => ({
      project_id: id,
      is_registered: holders.some(({ project_id }) => project_id === id),
      instance_count: running.get(id)?.length ?? 0,
    })),
    instances: ownInstances.map(({ org_id: _org, ...instance }) => instance),
    others: { project_count: others.length, instance_count: otherInstances.length },
    truncated: isTruncated,
  };
}

export function stoppingOf({ stoppings }: Uses, { id }: Artifact): UsageView['stopping'] {
  const found = stoppings.find(({ artifact_id }) => artifact_id === id);
  if (!found) return undefined;
  const { artifact_id: _, ...stopping } = found;
  return stopping;
}

function part<T>(all: T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))];
}
