// Capacity that a project holds on a node: a whole node, or a slice of one. It is placed when it is asked for, or refused.

import * as v from 'valibot';
import { CAPACITY_SHAPES, type Hold } from '../nodes/capacity.ts';
import { ACCELERATORS } from '../nodes/inventory.ts';
import { event } from '../platform/events.ts';
import {
  AllocationId,
  NodeId,
  type OrgId,
  ProjectId,
  type TaskId,
  textOf,
  VolumeId,
  type WorkloadId,
} from '../platform/ids.ts';
import { Description, Name, Time } from '../platform/name.ts';
import type { ScopedProject } from '../platform/scope.ts';
import { refuse } from './problems.ts';
import { Currency, Micros, type Sku, SkuName } from './sku.ts';

/**
 * active: its capacity is held, and what is launched may go there. releasing: takes nothing new; what runs there is being
 * removed, and its capacity is still held. released: holds nothing, and is kept only to be read.
 */
export const ALLOCATION_STATUSES = ['active', 'releasing', 'released'] as const;
export type AllocationStatus = (typeof ALLOCATION_STATUSES)[number];

/** What may follow what. Nothing comes back: a project that wants capacity again asks again. */
const TRANSITIONS = {
  active: ['releasing', 'released'],
  releasing: ['released'],
  released: [],
} as const satisfies Record<AllocationStatus, readonly AllocationStatus[]>;

export const canBecome = (from: AllocationStatus, to: AllocationStatus): boolean =>
  (TRANSITIONS[from] as readonly AllocationStatus[]).includes(to);

/** Whether tenants share the host. Decided by the shape, never asked for. */
const TENANT_BOUNDARY_MODES = ['dedicated_host', 'shared_host'] as const;

export const RequestAllocation = v.strictObject({
  sku: SkuName,
  name: v.optional(Name),
  /** Only on the host that has this volume of the project. */
  volume_id: v.optional(VolumeId),
});
export type RequestAllocation = v.InferOutput<typeof RequestAllocation>;

export const AllocationParams = v.object({ project_id: ProjectId, allocation_id: AllocationId });
export const WriteOff = v.strictObject({ reason: v.pipe(Description, v.minLength(1)) });

/** Something that still runs on an allocation that is being released. */
const Leftover = v.object({
  workload_id: textOf<WorkloadId>(),
  /** The removal that was asked for last. */
  task_id: v.optional(textOf<TaskId>()),
  /** Why the last removal did not succeed. */
  code: v.optional(v.string()),
});
export type Leftover = v.InferOutput<typeof Leftover>;

/** Shown as it is kept: of its host a tenant sees the id, and nothing more. */
export const Allocation = v.object({
  id: textOf<AllocationId>(),
  org_id: textOf<OrgId>(),
  project_id: textOf<ProjectId>(),
  name: v.optional(v.string()),
  sku: SkuName,
  capacity_shape: v.picklist(CAPACITY_SHAPES),
  accelerator: v.picklist(ACCELERATORS),
  gpu_uuids: v.array(v.string()),
  vcpu: v.number(),
  memory_mib: v.number(),
  disk_gib: v.number(),
  node_id: textOf<NodeId>(),
  /** `lost` since the platform no longer hears of the host: what runs there is not known. */
  host_status: v.picklist(['ready', 'lost']),
  tenant_boundary_mode: v.picklist(TENANT_BOUNDARY_MODES),
  /** As they were when it was asked for. */
  price_micros_per_hour: Micros,
  currency: Currency,
  status: v.picklist(ALLOCATION_STATUSES),
  created_by: v.string(),
  created_at: Time,
  release_requested_by: v.optional(v.string()),
  release_requested_at: v.optional(Time),
  released_at: v.optional(Time),
  /** The host was given up: nobody has seen what ran there end. */
  written_off: v.optional(v.object({ by: v.string(), reason: v.string() })),
  leftovers: v.array(Leftover),
  /** Changes with every change of it. */
  version: v.number(),
});
export type Allocation = v.InferOutput<typeof Allocation>;

export const AllocationPage = v.object({
  items: v.array(Allocation),
  next_cursor: v.nullable(v.string()),
});

export function planAllocation(
  { id, name }: { id: AllocationId; name?: string },
  sku: Sku,
  { node_id, hold }: { node_id: NodeId; hold: Hold },
  by: { project: ScopedProject; actor: string },
  now: Date,
): Allocation {
  const { gpu_uuids, vcpu, memory_mib, disk_gib } = hold;
  return {
    id,
    org_id: by.project.org_id,
    project_id: by.project.id,
    ...(name !== undefined && { name }),
    sku: sku.sku,
    capacity_shape: sku.capacity_shape,
    accelerator: sku.accelerator,
    gpu_uuids,
    vcpu,
    memory_mib,
    disk_gib,
    node_id,
    host_status: 'ready',
    tenant_boundary_mode: sku.capacity_shape === 'baremetal' ? 'dedicated_host' : 'shared_host',
    price_micros_per_hour: sku.price_micros_per_hour,
    currency: sku.currency,
    status: 'active',
    created_by: by.actor,
    created_at: now.toISOString(),
    leftovers: [],
    version: 1,
  };
}

/** Undefined where there is nothing to do: it is being released already, or was. */
export function askRelease(allocation: Allocation, by: string, now: Date): Allocation | undefined {
  if (!canBecome(allocation.status, 'releasing')) return undefined;
  return changed(allocation, {
    status: 'releasing',
    release_requested_by: by,
    release_requested_at: now.toISOString(),
  });
}

/** Undefined where something is left, or it was released before. */
export function finishRelease(allocation: Allocation, now: Date): Allocation | undefined {
  if (allocation.status !== 'releasing' || allocation.leftovers.length > 0) return undefined;
  return changed(allocation, { status: 'released', released_at: now.toISOString() });
}

/** Only what nobody can ask for its removal any more: everything else is released, and ends with a receipt. */
export function writeOff(
  allocation: Allocation,
  written_off: NonNullable<Allocation['written_off']>,
  now: Date,
): Allocation | undefined {
  if (!canBecome(allocation.status, 'released')) return undefined;
  if (allocation.host_status !== 'lost') throw refuse('allocation.host_not_lost');
  return changed(allocation, { status: 'released', released_at: now.toISOString(), written_off });
}

/** Undefined where it is known already, or matters no more. */
export function tellHost(
  allocation: Allocation,
  host_status: Allocation['host_status'],
): Allocation | undefined {
  if (allocation.status === 'released' || allocation.host_status === host_status) return undefined;
  return changed(allocation, { host_status });
}

/** Undefined where the same was left before. */
export function tellLeftovers(allocation: Allocation, leftovers: Leftover[]): Allocation | undefined {
  if (JSON.stringify(allocation.leftovers) === JSON.stringify(leftovers)) return undefined;
  return changed(allocation, { leftovers });
}

const changed = (allocation: Allocation, change: Partial<Allocation>): Allocation => ({
  ...allocation,
  ...change,
  version: allocation.version + 1,
});

/** For whoever wants to put something on it. */
export function requireActive(allocation: Allocation): void {
  if (allocation.status !== 'active') throw refuse('allocation.not_active');
}

export const subjectOfAllocation = ({ id }: Pick<Allocation, 'id'>): string => `allocation:${id}`;

export const pathOfAllocation = ({ project_id, id }: Pick<Allocation, 'project_id' | 'id'>): string =>
  `/api/v1/projects/${project_id}/allocations/${id}`;

/** As the audit tells it. */
export const aboutAllocation = ({ status, node_id, host_status, leftovers, written_off }: Allocation) => ({
  status,
  node_id,
  host_status,
  leftover_count: leftovers.length,
  ...(written_off && { written_off }),
});

const Told = v.object({
  allocation_id: AllocationId,
  sku: SkuName,
  capacity_shape: v.picklist(CAPACITY_SHAPES),
  accelerator: v.picklist(ACCELERATORS),
  gpu_uuids: v.array(v.string()),
  node_id: NodeId,
  price_micros_per_hour: Micros,
  currency: Currency,
});

const tell = ({ id, ...allocation }: Allocation) => ({ allocation_id: id, ...allocation });

export const AllocationRequested = event('allocation.requested', 1, Told, tell);
/** From here on it is paid for. */
export const AllocationActive = event('allocation.active', 1, Told, tell);
export const AllocationReleaseRequested = event('allocation.release_requested', 1, Told, tell);
/** And here that ends. */
export const AllocationReleased = event('allocation.released', 1, Told, tell);
export const AllocationWrittenOff = event(
  'allocation.written_off',
  1,
  v.object({ ...Told.entries, reason: v.string() }),
  (allocation: Allocation) => ({ ...tell(allocation), reason: allocation.written_off?.reason ?? '' }),
);
export const AllocationHostLost = event('allocation.host_lost', 1, Told, tell);
export const AllocationHostRecovered = event('allocation.host_recovered', 1, Told, tell);
