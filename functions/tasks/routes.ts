import type { Table } from '../platform/route.ts';

export const tasksRoutes = {
  'POST /api/v1/admin/nodes/{node_id}/tasks': ['createTask', 'platform.node.task'],
  'GET /api/v1/admin/nodes/{node_id}/tasks': ['listTasks', 'platform.node.read'],
  'GET /api/v1/admin/nodes/{node_id}/tasks/{task_id}': ['getTask', 'platform.node.read'],

  'POST /api/v1/nodes/{node_id}/pull-credentials': ['issuePullCredentials', 'node.credential.issue'],
  'GET /api/v1/nodes/{node_id}/trust': ['getTrust', 'node.trust.read'],
  'POST /api/v1/nodes/{node_id}/secrets': ['fetchSecret', 'node.secret.read'],
  'GET /api/v1/nodes/{node_id}/workloads': ['listWorkloads', 'node.workload.read'],
  'POST /api/v1/nodes/{node_id}/workloads/{workload_id}/status': ['reportWorkload', 'node.report'],
  'POST /api/v1/nodes/{node_id}/tasks/{task_id}/progress': ['reportProgress', 'node.report'],
  'POST /api/v1/nodes/{node_id}/tasks/{task_id}/outcome': ['endTask', 'node.report'],
} as const satisfies Table;
