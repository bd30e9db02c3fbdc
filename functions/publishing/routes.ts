import type { Table } from '../platform/route.ts';

export const publishingRoutes = {
  'GET /api/v1/apps/registry': ['getRegistry', 'signed_in'],
  'POST /api/v1/projects/{project_id}/app-artifacts/publish-intents': [
    'createIntent',
    'apps.artifact.publish',
  ],
  'GET /api/v1/projects/{project_id}/app-artifacts/publish-intents/{intent_id}': [
    'getIntent',
    'apps.artifact.read',
  ],
  'POST /api/v1/projects/{project_id}/app-artifacts/publish-intents/{intent_id}/unwrap': [
    'unwrapCredential',
    'apps.artifact.publish',
  ],
} as const satisfies Table;
