// A disk of a project on one host, which outlives what uses it. Scratch volumes come and go with what is launched, and
// are not here.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import {
  AllocationId,
  NodeId,
  type OrgId,
  ProjectId,
  type TaskId,
  textOf,
  VolumeId,
} from '../platform/ids.ts';
import { Name, Time } from '../platform/name.ts';
import type { Allocation } from './allocation.ts';
import { refuse } from './problems.ts';

/**
 * creating: the host was asked to make it. ready: can be mounted. failed: the host did not make it. removing: the host was
 * asked to remove it, and when it has, the volume is gone. Until then its disk stays held, whatever the host answers.
 */
export const VOLUME_STATUSES = ['creating', 'ready', 'failed', 'removing'] as const;

export const CreateVolume = v.strictObject({
  name: v.optional(Name),
  /** On whose host it is made. */
  allocation_id: AllocationId,
  size_gib: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100 * 1024)),
});
export type CreateVolume = v.InferOutput<typeof CreateVolume>;

export const VolumeParams = v.object({ project_id: ProjectId, volume_id: VolumeId });

export const Volume = v.object({
  id: textOf<VolumeId>(),
  org_id: textOf<OrgId>(),
  project_id: textOf<ProjectId>(),
  name: v.optional(v.string()),
  node_id: textOf<NodeId>(),
  size_gib: v.number(),
  status: v.picklist(VOLUME_STATUSES),
  /** What the host was asked last. */
  task_id: textOf<TaskId>(),
  /** Why the host did not do what it was asked last. */
  failure_code: v.optional(v.string()),
  created_by: v.string(),
  created_at: Time,
  version: v.number(),
});
export type Volume = v.InferOutput<typeof Volume>;

export const VolumePage = v.object({ items: v.array(Volume), next_cursor: v.nullable(v.string()) });

export function planVolume(
  { id, task_id }: { id: VolumeId; task_id: TaskId },
  { name, size_gib }: CreateVolume,
  { org_id, project_id, node_id }: Allocation,
  by: string,
  now: Date,
): Volume {
  return {
    id,
    org_id,
    project_id,
    ...(name !== undefined && { name }),
    node_id,
    size_gib,
    status: 'creating',
    task_id,
    created_by: by,
    created_at: now.toISOString(),
    version: 1,
  };
}

/** Another project's is as unknown as one that never was. */
export function requireOwnVolume(volume: Volume | undefined, projectId: ProjectId): Volume {
  if (volume?.project_id !== projectId) throw refuse('volume.unknown');
  return volume;
}

/** Whether the volume can be mounted by what runs on the allocation: it is the same project's, on the same host. */
export const isMountableOn = (volume: Volume, allocation: Allocation): boolean =>
  volume.status === 'ready' &&
  allocation.status === 'active' &&
  allocation.project_id === volume.project_id &&
  allocation.node_id === volume.node_id;

/** Undefined where the host was asked and has not answered. One that was not removed is asked away again. */
export function askRemoval(volume: Volume, task_id: TaskId): Volume | undefined {
  if (volume.status === 'removing' && volume.failure_code === undefined) return undefined;
  if (volume.status === 'creating') throw refuse('volume.not_ready');
  const { failure_code: _, ...rest } = volume;
  return { ...rest, status: 'removing', task_id, version: volume.version + 1 };
}

/** How the host answered, or that it did not. */
export interface HostAnswer {
  task_id: TaskId;
  isDone: boolean;
  code?: string;
}

/**
 * What becomes of it by the host's answer; undefined where that changes nothing. A host may answer after nobody waited
 * for it any longer: what it says then counts, as it was there.
 */
export function settleVolume(volume: Volume, answer: HostAnswer): Volume | 'gone' | undefined {
  if (volume.task_id !== answer.task_id) return undefined;
  const { failure_code: _, ...rest } = volume;
  const next = { ...rest, version: volume.version + 1 };
  const failed = { ...next, ...(answer.code !== undefined && { failure_code: answer.code }) };
  switch (volume.status) {
    case 'creating':
      return answer.isDone ? { ...next, status: 'ready' } : { ...failed, status: 'failed' };
    case 'failed':
      return answer.isDone ? { ...next, status: 'ready' } : undefined;
    case 'removing':
      // One that the host does not know is not there, which is what was asked for.
      if (answer.isDone || answer.code === 'volume_unknown') return 'gone';
      if (volume.failure_code !== undefined) return undefined;
      // Nothing was begun. After anything else nobody knows what is left of it.
      return { ...failed, status: answer.code === 'volume_in_use' ? 'ready' : 'removing' };
    case 'ready':
      return undefined;
    default:
      return volume.status satisfies never;
  }
}

export const subjectOfVolume = ({ id }: Pick<Volume, 'id'>): string => `volume:${id}`;

export const pathOfVolume = ({ project_id, id }: Pick<Volume, 'project_id' | 'id'>): string =>
  `/api/v1/projects/${project_id}/volumes/${id}`;

/** As the audit tells it. */
export const aboutVolume = ({ status, node_id, size_gib, failure_code }: Volume) => ({
  status,
  node_id,
  size_gib,
  ...(failure_code !== undefined && { failure_code }),
});

const Told = v.object({
  volume_id: VolumeId,
  node_id: NodeId,
  size_gib: v.number(),
});

const tell = ({ id, ...volume }: Volume) => ({ volume_id: id, ...volume });

/** The host has made it. */
export const VolumeCreated = event('volume.created', 1, Told, tell);
/** The host could not make it, or not remove it. */
export const VolumeFailed = event(
  'volume.failed',
  1,
  v.object({ ...Told.entries, status: v.picklist(VOLUME_STATUSES), failure_code: v.optional(v.string()) }),
  tell,
);
/** The host has removed it, or is gone itself. */
export const VolumeRemoved = event('volume.removed', 1, Told, tell);
