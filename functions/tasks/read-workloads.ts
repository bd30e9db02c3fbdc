// What other domains may read of what hosts were asked to hold.

import * as v from 'valibot';
import { WORKLOAD_ROWS, workloadKey } from '../nodes/keys.ts';
import { queryAll } from '../platform/data/rows.ts';
import type { AllocationId, NodeId } from '../platform/ids.ts';
import { Workload } from './workload.ts';

/** What is beyond is not in the trust document either, and so does not start. */
const WORKLOADS_MAX = 1_000;

/** Everything on the node that no receipt has ended yet, as it is now. */
export async function readWorkloads(nodeId: NodeId): Promise<Workload[]> {
  const { items } = await queryAll({
    condition: 'pk = :pk AND begins_with(sk, :kind)',
    values: { ':pk': workloadKey(nodeId, '').pk, ':kind': WORKLOAD_ROWS },
    max: WORKLOADS_MAX,
    consistent: true,
  });
  return items.map((item) => v.parse(Workload, item));
}

export const readWorkloadsOn = async (nodeId: NodeId, allocationId: AllocationId): Promise<Workload[]> =>
  (await readWorkloads(nodeId)).filter(({ allocation_id }) => allocation_id === allocationId);
