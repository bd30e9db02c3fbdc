import type { Table } from '../platform/route.ts';

export const retentionRoutes = {
  'GET /api/v1/admin/artifacts/garbage': ['listGarbage', 'apps.catalog.publish'],
} as const satisfies Table;
