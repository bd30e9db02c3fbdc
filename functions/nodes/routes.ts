import type { Table } from '../platform/route.ts';

export const nodesRoutes = {
  'POST /api/v1/admin/nodes': ['createNode', 'platform.node.write'],
  'GET /api/v1/admin/nodes': ['listNodes', 'platform.node.read'],
  'GET /api/v1/admin/nodes/{node_id}': ['getNode', 'platform.node.read'],
  'DELETE /api/v1/admin/nodes/{node_id}': ['removeNode', 'platform.node.remove'],
  'POST /api/v1/admin/nodes/{node_id}/join-token': ['renewJoinToken', 'platform.node.write'],
  'POST /api/v1/admin/nodes/{node_id}/cordon': ['cordonNode', 'platform.node.write'],
  'POST /api/v1/admin/nodes/{node_id}/uncordon': ['uncordonNode', 'platform.node.write'],
  'POST /api/v1/admin/nodes/{node_id}/drain': ['drainNode', 'platform.node.drain'],

  'POST /api/v1/nodes/{node_id}/enrolment': ['enrolNode', 'public'],
  'PUT /api/v1/nodes/{node_id}/inventory': ['putInventory', 'node.report'],
  'POST /api/v1/nodes/{node_id}/heartbeat': ['recordHeartbeat', 'node.report'],
  'POST /api/v1/nodes/{node_id}/queue-credentials': ['issueQueueCredentials', 'node.credential.issue'],
} as const satisfies Table;
