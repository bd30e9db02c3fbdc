import * as v from 'valibot';
import { fenceKey, WORKLOAD_ROWS, workloadKey } from '../nodes/keys.ts';
import { putNew, remove, replace, sameAs, update, type Write } from '../platform/data/commit.ts';
import { type PageAsked, readRows } from '../platform/data/rows.ts';
import { readItem } from '../platform/data/table.ts';
import { lowerCased, type NodeId, type WorkloadId } from '../platform/ids.ts';
import type { PageOf } from '../platform/page.ts';
import { Workload } from './workload.ts';

export const parseWorkload = (item: unknown): Workload | undefined => v.parse(v.optional(Workload), item);

export async function findWorkload(nodeId: NodeId, id: WorkloadId): Promise<Workload | undefined> {
  return parseWorkload(await readItem(workloadKey(lowerCased(nodeId), lowerCased(id))));
}

export async function listWorkloadsOf(nodeId: NodeId, page: PageAsked): Promise<PageOf<Workload>> {
  const { pk } = workloadKey(lowerCased(nodeId), '');
  const { items, next_cursor } = await readRows(pk, WORKLOAD_ROWS, page);
  return { items: items.map((item) => v.parse(Workload, item)), next_cursor };
}

/** Puts it in place of the one that was read: a number is given out once. */
export function saveWorkload(before: Workload | undefined, after: Workload): Write {
  const { node_id, workload_id } = after;
  const item = { ...workloadKey(node_id, workload_id), ...after, version: (before?.version ?? 0) + 1 };
  return before ? replace(item, { version: before.version }) : putNew(item);
}

/** Takes it away, as it was read. */
export const removeWorkload = ({ node_id, workload_id, version }: Workload): Write =>
  remove(workloadKey(node_id, workload_id), sameAs({ version }));

const Fence = v.object({ fence: v.number() });

export const fenceIn = (item: unknown): number => v.parse(v.optional(Fence, { fence: 0 }), item).fence;

/** The next number of something that is no workload. It is kept for good: a number that is given again is refused. */
export const saveFence = (nodeId: NodeId, subject: string, fence: number): Write =>
  update(fenceKey(nodeId, subject), {
    update: 'SET fence = :fence',
    condition: fence === 1 ? 'attribute_not_exists(pk)' : 'fence = :before',
    values: { ':fence': fence, ...(fence > 1 && { ':before': fence - 1 }) },
  });
