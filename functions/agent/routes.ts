import type { Table } from '../platform/route.ts';

export const agentRoutes = {
  'GET /api/v1/agent/bootstrap.sh': ['getBootstrapScript', 'public'],
  'GET /api/v1/agent/cloud-init.yaml': ['getCloudInit', 'public'],
  'GET /api/v1/agent/bundle.mjs': ['getAgentBundle', 'public'],
  'GET /api/v1/agent/release': ['getAgentRelease', 'public'],
} as const satisfies Table;
