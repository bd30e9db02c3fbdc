// What a host was asked to hold: whose it is, which images it is made of, and how it is. Its row is there from the first
// launch until the host has proved that nothing is left of it.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import {
  AllocationId,
  type AppInstanceId,
  NodeId,
  type OrgId,
  type ProjectId,
  textOf,
  type VolumeId,
  WorkloadId,
} from '../platform/ids.ts';
import { type AssignedWorkload, WorkloadStatus } from './agent-api.ts';
import { refuse } from './problems.ts';
import type { Container, Payload } from './task.ts';

/** An image that the host may pull and start, and the project whose revocation counts for it. */
export const AssignedImage = v.object({
  repository: v.string(),
  digest: v.string(),
  publisher_project_id: textOf<ProjectId>(),
});
export type AssignedImage = v.InferOutput<typeof AssignedImage>;

const ENGINES = ['oci', 'compose'] as const;
export type Engine = (typeof ENGINES)[number];

export const Workload = v.object({
  workload_id: textOf<WorkloadId>(),
  node_id: textOf<NodeId>(),
  allocation_id: textOf<AllocationId>(),
  org_id: textOf<OrgId>(),
  project_id: textOf<ProjectId>(),
  app_instance_id: v.optional(textOf<AppInstanceId>()),
  engine: v.picklist(ENGINES),
  /** Those of the last launch; until that has succeeded, those of the one before as well. */
  images: v.array(AssignedImage),
  /** Persistent volumes that a launch of it has mounted: while it is there, they stay. */
  volume_ids: v.optional(v.array(textOf<VolumeId>())),
  desired: v.picklist(['present', 'absent']),
  /** The highest that was given out. */
  fence: v.number(),
  /** Of the launch that made the row. */
  first_fence: v.number(),
  /** As the host said last. */
  status: v.optional(WorkloadStatus),
  created_at: v.string(),
  updated_at: v.string(),
  /** Counts the changes of this row. */
  version: v.number(),
});
export type Workload = v.InferOutput<typeof Workload>;

export const viewAssigned = ({
  workload_id,
  allocation_id,
  project_id,
  desired,
  fence,
}: Workload): AssignedWorkload => ({ workload_id, allocation_id, project_id, desired, fence });

export const subjectOfWorkload = (id: WorkloadId): string => `workload:${id}`;

/** As many as one launch may bring, twice: the images of the launch before stay until the next has succeeded. */
const IMAGES_MAX = 40;

interface Launch {
  payload: Payload<'oci.launch' | 'compose.up'>;
  /** Those that are known; a launch of any other is refused. */
  images: AssignedImage[];
}

/** A launch, or a launch of something else in its place. */
export function planLaunch(
  before: Workload | undefined,
  nodeId: NodeId,
  { payload, images }: Launch,
  now: Date,
): Workload {
  const engine: Engine = 'containers' in payload ? 'compose' : 'oci';
  requireKnown(payload, images);
  const { workload_id, allocation_id, org_id, project_id, app_instance_id } = payload;
  const at = now.toISOString();
  if (!before)
    return {
      workload_id,
      node_id: nodeId,
      allocation_id,
      org_id,
      project_id,
      ...(app_instance_id !== undefined && { app_instance_id }),
      engine,
      images: distinct(images),
      ...mounting(payload),
      desired: 'present',
      fence: 1,
      first_fence: 1,
      created_at: at,
      updated_at: at,
      version: 0,
    };
  requireStaying(before);
  const isSame = before.allocation_id === allocation_id && before.project_id === project_id;
  if (!isSame || before.engine !== engine) throw refuse('workload.exists');
  const assigned = distinct([...images, ...before.images]).slice(0, IMAGES_MAX);
  return {
    ...before,
    ...mounting(payload, before.volume_ids),
    images: assigned,
    fence: before.fence + 1,
    updated_at: at,
  };
}

/** Another task about it; after a removal it is to be gone. */
export function planNext(
  before: Workload | undefined,
  kind: 'remove' | 'control' | 'look',
  engine: Engine | 'any',
  now: Date,
): Workload {
  if (!before) throw refuse('workload.unknown');
  if (engine !== 'any' && engine !== before.engine) throw refuse('workload.other_engine');
  if (kind === 'control') requireStaying(before);
  return {
    ...before,
    ...(kind === 'remove' && { desired: 'absent' }),
    fence: before.fence + 1,
    updated_at: now.toISOString(),
  };
}

function requireStaying({ desired }: Workload): void {
  if (desired === 'absent') throw refuse('workload.leaving');
}

function requireKnown(payload: Launch['payload'], images: AssignedImage[]): void {
  const known = new Set(images.map(nameImage));
  const faults = containersOf(payload).flatMap((container, index) =>
    known.has(nameImage(container))
      ? []
      : {
          pointer: 'containers' in payload ? `/payload/containers/${index}` : '/payload/container',
          detail: 'Expected an image that is registered and verified.',
        },
  );
  if (faults.length > 0) throw refuse('task.image_unknown', { faults });
}

export const nameImage = ({ repository, digest }: { repository: string; digest: string }): string =>
  `${repository}@${digest}`;

function mounting({ volumes }: Launch['payload'], before: VolumeId[] = []): Pick<Workload, 'volume_ids'> {
  const persistent = volumes.flatMap(({ id, kind }) => (kind === 'persistent' ? [id] : []));
  const volume_ids = [...new Set([...before, ...persistent])];
  return volume_ids.length === 0 ? {} : { volume_ids };
}

export const containersOf = (payload: Payload<'oci.launch' | 'compose.up'>): Container[] =>
  'containers' in payload ? payload.containers : [payload.container];

function distinct(images: AssignedImage[]): AssignedImage[] {
  return [...new Map(images.map((image) => [nameImage(image), image])).values()];
}

/** What of the repositories asked for no workload of the node is made of. */
export function findUnassigned(workloads: Workload[], repositories: string[]): string[] {
  const assigned = new Set(workloads.flatMap(({ images }) => images.map(({ repository }) => repository)));
  return repositories.filter((repository) => !assigned.has(repository));
}

/** Every image of these workloads, once. */
export const imagesOf = (workloads: Workload[]): AssignedImage[] =>
  distinct(workloads.flatMap(({ images }) => images));

/**
 * What a host says by itself. An earlier word than the last one changes nothing; one under a fence that was passed, or
 * that nobody gave out, is not believed.
 */
export function hearStatus(before: Workload, said: WorkloadStatus, now: Date): Workload | 'old' {
  const last = before.status;
  if (said.fence > before.fence || said.fence < (last?.fence ?? 0)) throw refuse('workload.fenced');
  if (last && last.fence === said.fence && said.at <= last.at) return 'old';
  return { ...before, status: said, updated_at: now.toISOString() };
}

/** Somebody waits for this; that a container was looked at again is no news. */
export function isNews(before: Workload, { status }: Workload): boolean {
  const tell = (told: WorkloadStatus | undefined): string =>
    JSON.stringify([told?.state, told?.detail, told?.containers]);
  return tell(before.status) !== tell(status);
}

export const WorkloadChanged = event(
  'platform.node.workload_changed',
  1,
  v.object({
    node_id: NodeId,
    workload_id: WorkloadId,
    allocation_id: AllocationId,
    fence: v.number(),
    state: WorkloadStatus.entries.state,
    detail: v.optional(v.string()),
    containers: v.array(
      v.object({
        name: v.string(),
        state: v.string(),
        restarts: v.number(),
        exit_code: v.optional(v.number()),
        out_of_memory: v.boolean(),
      }),
    ),
  }),
  (
    { node_id, workload_id, allocation_id }: Workload,
    { fence, state, detail, containers }: WorkloadStatus,
  ) => ({
    node_id,
    workload_id,
    allocation_id,
    fence,
    state,
    ...(detail !== undefined && { detail }),
    containers,
  }),
);
