// Where hosts are kept. Pure, because the CDK app reads it too: a function's role reaches these partitions and no others.
// Who a node is for authorization lies apart: nodePrincipalKey of the kernel. The rows that functions/tasks keeps beside a
// node are named here too, so that everything in its partition is told apart on one page.

import type { Key } from '../platform/data/table.ts';
import type { NodeId, TaskId, WorkloadId } from '../platform/ids.ts';

export const NODE_PARTITIONS = 'NODE#*';
/** Every node that was not removed, in gsi1, by id. */
export const NODES_PARTITION = 'NODES';

export const nodeKey = (id: NodeId): Key => ({ pk: `NODE#${id}`, sk: 'NODE' });
/** Small and often written, so it is a row of its own. */
export const heartbeatKey = (id: NodeId): Key => ({ pk: `NODE#${id}`, sk: 'HEARTBEAT' });
/** What allocations hold of the node: changed only as it was read, so that nothing is given away twice. */
export const capacityKey = (id: NodeId): Key => ({ pk: `NODE#${id}`, sk: 'CAPACITY' });
/** What the platform has asked a host to hold and has no receipt for yet. */
export const WORKLOAD_ROWS = 'WORKLOAD#';
export const workloadKey = (node: NodeId, id: WorkloadId): Key => ({
  pk: `NODE#${node}`,
  sk: `${WORKLOAD_ROWS}${id}`,
});
/** A node's tasks by age, beside the task itself. */
export const TASK_ROWS = 'TASK#';
export const taskOfNodeKey = (node: NodeId, id: TaskId): Key => ({
  pk: `NODE#${node}`,
  sk: `${TASK_ROWS}${id}`,
});
/** The number given to the last task about something that is no workload: those have theirs in their row. */
export const fenceKey = (node: NodeId, subject: string): Key => ({
  pk: `NODE#${node}`,
  sk: `FENCE#${subject}`,
});

/** In SQS. Every queue of a node begins so, and no other. */
export const NODE_QUEUE_PREFIX = 'gpuaas-node-';
export const queueNameOf = (id: NodeId): string => `${NODE_QUEUE_PREFIX}${id}`;
