import type { Table } from '../platform/route.ts';

export const docsRoutes = {
  'GET /api/v1/openapi.json': ['getOpenapi', 'public'],
  'GET /api/v1/asyncapi.json': ['getAsyncapi', 'public'],
  'GET /docs': ['getDocs', 'public'],
  'GET /api/v1/schemas/app-manifest/v1': ['getManifestSchema', 'public'],
} as const satisfies Table;
