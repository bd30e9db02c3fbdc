import { cordonNode } from './cordon-node.ts';
import { createNode } from './create-node.ts';
import { drainNode } from './drain-node.ts';
import { enrolNode } from './enrol-node.ts';
import { getNode } from './get-node.ts';
import { issueQueueCredentials } from './issue-queue-credentials.ts';
import { listNodes } from './list-nodes.ts';
import { putInventory } from './put-inventory.ts';
import { recordHeartbeat } from './record-heartbeat.ts';
import { removeNode } from './remove-node.ts';
import { renewJoinToken } from './renew-join-token.ts';
import { uncordonNode } from './uncordon-node.ts';

/** Every handler of the domain, by the name its routes call it. */
export const nodesEndpoints = {
  createNode,
  listNodes,
  getNode,
  removeNode,
  renewJoinToken,
  cordonNode,
  uncordonNode,
  drainNode,
  enrolNode,
  putInventory,
  recordHeartbeat,
  issueQueueCredentials,
};
