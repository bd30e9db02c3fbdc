import type { Table } from '../platform/route.ts';

export const artifactsRoutes = {
  'POST /api/v1/projects/{project_id}/app-artifacts': ['registerArtifact', 'apps.artifact.publish'],
  'GET /api/v1/projects/{project_id}/app-artifacts': ['listArtifacts', 'apps.artifact.read'],
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}': ['getArtifact', 'apps.artifact.read'],

  'GET /api/v1/admin/artifacts/trust-policies': ['listTrustPolicies', 'apps.trust.write'],
  'GET /api/v1/admin/artifacts/trust-policies/{policy_name}': ['getTrustPolicy', 'apps.trust.write'],
  'PUT /api/v1/admin/artifacts/trust-policies/{policy_name}': ['putTrustPolicy', 'apps.trust.write'],
  'DELETE /api/v1/admin/artifacts/trust-policies/{policy_name}': ['removeTrustPolicy', 'apps.trust.write'],
  'GET /api/v1/admin/artifacts/revoked-certificates': ['listRevokedCertificates', 'apps.trust.write'],
  'PUT /api/v1/admin/artifacts/revoked-certificates/{fingerprint}': ['revokeCertificate', 'apps.trust.write'],
  'DELETE /api/v1/admin/artifacts/revoked-certificates/{fingerprint}': [
    'restoreCertificate',
    'apps.trust.write',
  ],
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/verify': [
    'verifyArtifact',
    'apps.artifact.publish',
  ],
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/promote': [
    'promoteArtifact',
    'apps.catalog.publish',
  ],
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/promotion': [
    'getArtifactPromotion',
    'apps.artifact.read',
  ],
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/rollback': [
    'rollBackArtifact',
    'apps.catalog.publish',
  ],
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/deprecate': [
    'deprecateArtifact',
    'apps.catalog.publish',
  ],
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/retire': [
    'retireArtifact',
    'apps.catalog.publish',
  ],
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke': [
    'revokeArtifact',
    'apps.artifact.revoke',
  ],
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke/dry-run': [
    'dryRunRevocation',
    'apps.artifact.revoke',
  ],
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/usage': ['getUsage', 'apps.artifact.read'],
} as const satisfies Table;
