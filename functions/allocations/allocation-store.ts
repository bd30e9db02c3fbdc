import * as v from 'valibot';
import { putNew, remove, replace, requireThat, update, type Write } from '../platform/data/commit.ts';
import { projectKey } from '../platform/data/keys.ts';
import { decodeId, type PageAsked, readGathered, readItems } from '../platform/data/rows.ts';
import { queryPage, readItem } from '../platform/data/table.ts';
import { AllocationId, lowerCased, NodeId, ProjectId } from '../platform/ids.ts';
import { encodeCursor, type PageOf } from '../platform/page.ts';
import { Allocation, ALLOCATION_STATUSES, type AllocationStatus } from './allocation.ts';
import { allocationKey, OPEN_ALLOCATIONS, openAllocationKey, projectAllocations } from './keys.ts';
import { refuse } from './problems.ts';

/** Another project's is as unknown as one that never was. */
export async function findAllocation(projectId: ProjectId, id: AllocationId): Promise<Allocation> {
  const allocation = await findAnyAllocation(id);
  if (allocation?.project_id !== projectId) throw refuse('allocation.unknown');
  return allocation;
}

/** Of whichever project. */
export async function findAnyAllocation(id: AllocationId): Promise<Allocation | undefined> {
  return v.parse(v.optional(Allocation), await readItem(allocationKey(lowerCased(id))));
}

export async function findAllocations(ids: AllocationId[]): Promise<Allocation[]> {
  const rows = await readItems(ids.map(allocationKey));
  return rows.flatMap((row) => (row ? [v.parse(Allocation, row)] : []));
}

/** Oldest first, those that were released too. */
export async function listProjectAllocations(
  projectId: ProjectId,
  page: PageAsked,
): Promise<PageOf<Allocation>> {
  const { items, next_cursor } = await readGathered(projectAllocations(projectId), allocationKey, page);
  return { items: items.map((item) => v.parse(Allocation, item)), next_cursor };
}

/** What the list of all projects knows of an allocation that is not released. */
const OpenAllocation = v.object({
  allocation_id: AllocationId,
  project_id: ProjectId,
  node_id: NodeId,
  status: v.picklist(ALLOCATION_STATUSES),
});
type OpenAllocation = v.InferOutput<typeof OpenAllocation>;

export interface OpenFilter {
  node_id?: NodeId;
  status?: AllocationStatus;
}

/** How many rows one request reads to find those that are asked for. */
const LOOKED_AT = 500;

/** Of all projects, oldest first. A page is full unless few of those looked at are asked for. */
export async function listOpenRows(
  { node_id, status }: OpenFilter,
  { limit, cursor }: PageAsked,
): Promise<PageOf<OpenAllocation>> {
  const after = decodeId(cursor);
  const isFiltered = node_id !== undefined || status !== undefined;
  const { items, next } = await queryPage({
    index: 'gsi1',
    condition: 'gsi1pk = :open',
    values: { ':open': OPEN_ALLOCATIONS },
    limit: isFiltered ? LOOKED_AT : limit,
    from:
      after === undefined
        ? undefined
        : { ...openAllocationKey(after), gsi1pk: OPEN_ALLOCATIONS, gsi1sk: after },
  });
  const rows = items
    .map((item) => v.parse(OpenAllocation, item))
    .filter(
      (row) =>
        (node_id === undefined || row.node_id === node_id) && (status === undefined || row.status === status),
    );
  const page = rows.slice(0, limit);
  const onward = rows.length > limit ? page.at(-1)?.allocation_id : (next?.['gsi1sk'] as string | undefined);
  return { items: page, next_cursor: encodeCursor(onward) };
}

/** Adds it, unless the project is being archived at the same moment. */
export function insertAllocation(allocation: Allocation): Write[] {
  const { id, project_id, node_id, status } = allocation;
  const open: OpenAllocation = { allocation_id: id, project_id, node_id, status };
  return [
    requireThat(
      projectKey(project_id),
      { condition: '#status = :active', names: { '#status': 'status' }, values: { ':active': 'active' } },
      refuse('project.archived'),
    ),
    putNew({ ...allocationKey(id), ...allocation, gsi1pk: projectAllocations(project_id), gsi1sk: id }),
    putNew({ ...openAllocationKey(id), ...open, gsi1pk: OPEN_ALLOCATIONS, gsi1sk: id }),
  ];
}

/** Puts it in place of the one that was read. One that is released leaves the list of all projects. */
export function saveAllocation(before: Allocation, after: Allocation): Write[] {
  const { id, project_id, status } = after;
  const saved = replace(
    { ...allocationKey(id), ...after, gsi1pk: projectAllocations(project_id), gsi1sk: id },
    { version: before.version },
  );
  if (status === before.status) return [saved];
  const listed =
    status === 'released'
      ? remove(openAllocationKey(id))
      : update(openAllocationKey(id), {
          update: 'SET #status = :status',
          condition: 'attribute_exists(pk)',
          names: { '#status': 'status' },
          values: { ':status': status },
        });
  return [saved, listed];
}

/** For who puts something on an allocation: nobody releases it at the same moment. */
export const requireStillActive = ({ id }: Pick<Allocation, 'id'>): Write =>
  requireThat(
    allocationKey(id),
    { condition: '#status = :active', names: { '#status': 'status' }, values: { ':active': 'active' } },
    refuse('allocation.not_active'),
  );
