import type { Table } from '../platform/route.ts';

export const manifestsRoutes = {
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}/diff/{other_version}': [
    'diffVersions',
    'signed_in',
  ],
  'POST /api/v1/admin/apps/manifests': ['registerManifest', 'apps.catalog.publish'],
  'POST /api/v1/admin/apps/manifests/validate': ['validateManifest', 'apps.catalog.publish'],
  'GET /api/v1/admin/apps/submissions': ['listSubmissions', 'apps.catalog.publish'],
  'GET /api/v1/admin/apps/submissions/{submission_id}': ['getSubmission', 'apps.catalog.publish'],
  'POST /api/v1/admin/apps/submissions/{submission_id}/approve': [
    'approveSubmission',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/submissions/{submission_id}/reject': ['rejectSubmission', 'apps.catalog.publish'],
  'POST /api/v1/admin/apps/submissions/{submission_id}/request-changes': [
    'requestChanges',
    'apps.catalog.publish',
  ],
  'POST /api/v1/projects/{project_id}/apps/manifests': ['submitManifest', 'apps.manifest.submit'],
  'POST /api/v1/projects/{project_id}/apps/manifests/validate': [
    'validateProjectManifest',
    'apps.manifest.submit',
  ],
  'GET /api/v1/projects/{project_id}/apps/submissions': ['listProjectSubmissions', 'apps.catalog.read'],
  'GET /api/v1/projects/{project_id}/apps/submissions/{submission_id}': [
    'getProjectSubmission',
    'apps.catalog.read',
  ],
  'PUT /api/v1/projects/{project_id}/apps/submissions/{submission_id}': [
    'reviseSubmission',
    'apps.manifest.submit',
  ],
  'POST /api/v1/projects/{project_id}/apps/submissions/{submission_id}/withdraw': [
    'withdrawSubmission',
    'apps.manifest.submit',
  ],
} as const satisfies Table;
