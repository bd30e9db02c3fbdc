// The whole API on one page, as data: method, path, who may call, who answers. The CDK app makes one gateway route
// of each line; the OpenAPI document, the authorization matrix and the audit test walk the same table.

import type { Permission } from './platform/permissions.ts';

/**
 * `public`: anyone. `signed_in`: whoever holds a valid token. `iam`: signed with AWS credentials, for the platform
 * team. Everything else is a permission, asked for in the project, the organisation or the platform the path names.
 */
export type Requirement = Permission | 'public' | 'signed_in' | 'iam';

interface Route {
  domain: string;
  handler: string;
  permission: Requirement;
}

const identity = <H extends string, R extends Requirement>(handler: H, permission: R) =>
  ({ domain: 'identity', handler, permission }) as const;
const selftest = <H extends string, R extends Requirement>(handler: H, permission: R) =>
  ({ domain: 'selftest', handler, permission }) as const;
const catalog = <H extends string, R extends Requirement>(handler: H, permission: R) =>
  ({ domain: 'catalog', handler, permission }) as const;
const artifacts = <H extends string, R extends Requirement>(handler: H, permission: R) =>
  ({ domain: 'artifacts', handler, permission }) as const;
const publishing = <H extends string, R extends Requirement>(handler: H, permission: R) =>
  ({ domain: 'publishing', handler, permission }) as const;
const manifests = <H extends string, R extends Requirement>(handler: H, permission: R) =>
  ({ domain: 'manifests', handler, permission }) as const;
const docs = <H extends string>(handler: H) => ({ domain: 'docs', handler, permission: 'public' }) as const;

export const routes = {
  'GET /api/v1/health': selftest('getHealth', 'public'),
  'POST /api/v1/selftests': selftest('requestSelftest', 'iam'),
  'GET /api/v1/selftests/{selftest_id}': selftest('getSelftest', 'iam'),
  'POST /api/v1/admin/selftests': selftest('requestSelftest', 'platform.selftest.run'),
  'GET /api/v1/admin/selftests/{selftest_id}': selftest('getSelftest', 'platform.selftest.run'),

  'GET /api/v1/openapi.json': docs('getOpenapi'),
  'GET /docs': docs('getDocs'),
  'GET /api/v1/schemas/app-manifest/v1': docs('getManifestSchema'),

  'GET /api/v1/me': identity('getMe', 'signed_in'),
  'GET /api/v1/orgs': identity('listOrgs', 'signed_in'),
  'POST /api/v1/orgs': identity('createOrg', 'platform.org.create'),
  'GET /api/v1/orgs/{org_id}': identity('getOrg', 'org.read'),
  'PATCH /api/v1/orgs/{org_id}': identity('renameOrg', 'org.write'),
  'GET /api/v1/orgs/{org_id}/members': identity('listOrgMembers', 'org.member.read'),
  'PUT /api/v1/orgs/{org_id}/members/{user_id}': identity('putOrgMember', 'org.member.write'),
  'DELETE /api/v1/orgs/{org_id}/members/{user_id}': identity('removeOrgMember', 'org.member.write'),
  'GET /api/v1/orgs/{org_id}/invitations': identity('listInvitations', 'org.member.read'),
  'POST /api/v1/orgs/{org_id}/invitations': identity('createInvitation', 'org.member.write'),
  'DELETE /api/v1/orgs/{org_id}/invitations/{invitation_id}': identity(
    'revokeInvitation',
    'org.member.write',
  ),
  'POST /api/v1/invitations/accept': identity('acceptInvitation', 'signed_in'),

  'GET /api/v1/orgs/{org_id}/projects': identity('listProjects', 'org.read'),
  'POST /api/v1/orgs/{org_id}/projects': identity('createProject', 'project.create'),
  'GET /api/v1/projects/{project_id}': identity('getProject', 'project.read'),
  'PATCH /api/v1/projects/{project_id}': identity('renameProject', 'project.write'),
  'POST /api/v1/projects/{project_id}/archive': identity('archiveProject', 'project.archive'),
  'POST /api/v1/projects/{project_id}/unarchive': identity('unarchiveProject', 'project.archive'),
  'GET /api/v1/projects/{project_id}/members': identity('listProjectMembers', 'project.member.read'),
  'PUT /api/v1/projects/{project_id}/members/{user_id}': identity('putProjectMember', 'project.member.write'),
  'DELETE /api/v1/projects/{project_id}/members/{user_id}': identity(
    'removeProjectMember',
    'project.member.write',
  ),

  'GET /api/v1/projects/{project_id}/service-accounts': identity(
    'listServiceAccounts',
    'service_account.read',
  ),
  'POST /api/v1/projects/{project_id}/service-accounts': identity(
    'createServiceAccount',
    'service_account.write',
  ),
  'GET /api/v1/projects/{project_id}/service-accounts/{service_account_id}': identity(
    'getServiceAccount',
    'service_account.read',
  ),
  'PATCH /api/v1/projects/{project_id}/service-accounts/{service_account_id}': identity(
    'changeServiceAccount',
    'service_account.write',
  ),
  'DELETE /api/v1/projects/{project_id}/service-accounts/{service_account_id}': identity(
    'deleteServiceAccount',
    'service_account.write',
  ),
  'POST /api/v1/projects/{project_id}/service-accounts/{service_account_id}/disable': identity(
    'disableServiceAccount',
    'service_account.write',
  ),
  'POST /api/v1/projects/{project_id}/service-accounts/{service_account_id}/enable': identity(
    'enableServiceAccount',
    'service_account.write',
  ),
  'POST /api/v1/projects/{project_id}/service-accounts/{service_account_id}/rotate-key': identity(
    'rotateServiceAccountKey',
    'service_account.write',
  ),

  'POST /api/v1/auth/service-account/token': identity('mintToken', 'public'),
  'POST /api/v1/auth/sa/token': identity('mintToken', 'public'),
  'GET /.well-known/jwks.json': identity('getJwks', 'public'),
  'GET /.well-known/openid-configuration': identity('getOpenidConfiguration', 'public'),
  'GET /api/v1/admin/signing-keys': identity('listSigningKeys', 'platform.signing_key.rotate'),
  'POST /api/v1/admin/signing-keys/rotate': identity('rotateSigningKey', 'platform.signing_key.rotate'),

  'GET /api/v1/projects/{project_id}/audit': identity('listProjectAudit', 'audit.read'),
  'GET /api/v1/admin/audit': identity('listAudit', 'platform.audit.read'),
  'GET /api/v1/projects/{project_id}/events': identity('listEvents', 'event.read'),
  'POST /api/v1/projects/{project_id}/events/tickets': identity('createEventTicket', 'event.read'),

  'GET /api/v1/apps/catalog': catalog('listApps', 'signed_in'),
  'GET /api/v1/apps/catalog/{app_slug}': catalog('getApp', 'signed_in'),
  'GET /api/v1/apps/catalog/{app_slug}/versions': catalog('listVersions', 'signed_in'),
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}': catalog('getVersion', 'signed_in'),
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}/diff/{other_version}': manifests(
    'diffVersions',
    'signed_in',
  ),
  'POST /api/v1/admin/apps/manifests': manifests('registerManifest', 'apps.catalog.publish'),
  'POST /api/v1/admin/apps/manifests/validate': manifests('validateManifest', 'apps.catalog.publish'),
  'GET /api/v1/admin/apps/submissions': manifests('listSubmissions', 'apps.catalog.publish'),
  'GET /api/v1/admin/apps/submissions/{submission_id}': manifests('getSubmission', 'apps.catalog.publish'),
  'POST /api/v1/admin/apps/submissions/{submission_id}/approve': manifests(
    'approveSubmission',
    'apps.catalog.publish',
  ),
  'POST /api/v1/admin/apps/submissions/{submission_id}/reject': manifests(
    'rejectSubmission',
    'apps.catalog.publish',
  ),
  'POST /api/v1/admin/apps/submissions/{submission_id}/request-changes': manifests(
    'requestChanges',
    'apps.catalog.publish',
  ),
  'POST /api/v1/projects/{project_id}/apps/manifests': manifests('submitManifest', 'apps.manifest.submit'),
  'POST /api/v1/projects/{project_id}/apps/manifests/validate': manifests(
    'validateManifest',
    'apps.manifest.submit',
  ),
  'GET /api/v1/projects/{project_id}/apps/submissions': manifests(
    'listProjectSubmissions',
    'apps.catalog.read',
  ),
  'GET /api/v1/projects/{project_id}/apps/submissions/{submission_id}': manifests(
    'getProjectSubmission',
    'apps.catalog.read',
  ),
  'PUT /api/v1/projects/{project_id}/apps/submissions/{submission_id}': manifests(
    'reviseSubmission',
    'apps.manifest.submit',
  ),
  'POST /api/v1/projects/{project_id}/apps/submissions/{submission_id}/withdraw': manifests(
    'withdrawSubmission',
    'apps.manifest.submit',
  ),
  'GET /api/v1/projects/{project_id}/apps/catalog': catalog('listProjectApps', 'apps.catalog.read'),

  'GET /api/v1/projects/{project_id}/apps/entitlements': catalog('listEntitlements', 'apps.entitlement.read'),
  'GET /api/v1/projects/{project_id}/apps/entitlements/{app_slug}': catalog(
    'getEntitlement',
    'apps.entitlement.read',
  ),
  'PUT /api/v1/projects/{project_id}/apps/entitlements/{app_slug}': catalog(
    'putEntitlement',
    'apps.entitlement.write',
  ),
  'GET /api/v1/orgs/{org_id}/apps/entitlements': catalog('listOrgEntitlements', 'apps.entitlement.read'),
  'GET /api/v1/orgs/{org_id}/apps/entitlements/{app_slug}': catalog(
    'getOrgEntitlement',
    'apps.entitlement.read',
  ),
  'PUT /api/v1/orgs/{org_id}/apps/entitlements/{app_slug}': catalog(
    'putOrgEntitlement',
    'apps.entitlement.write',
  ),

  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/promote': catalog(
    'promoteVersion',
    'apps.catalog.publish',
  ),
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/publish': catalog(
    'publishVersion',
    'apps.catalog.publish',
  ),
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/rollback': catalog(
    'rollBackVersion',
    'apps.catalog.publish',
  ),
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/deprecate': catalog(
    'deprecateVersion',
    'apps.catalog.publish',
  ),
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/retire': catalog(
    'retireVersion',
    'apps.catalog.publish',
  ),
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/smoke': catalog(
    'answerSmoke',
    'apps.catalog.publish',
  ),
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}/promotion': catalog('getPromotion', 'signed_in'),

  'GET /api/v1/apps/registry': publishing('getRegistry', 'signed_in'),
  'POST /api/v1/projects/{project_id}/app-artifacts/publish-intents': publishing(
    'createIntent',
    'apps.artifact.publish',
  ),
  'GET /api/v1/projects/{project_id}/app-artifacts/publish-intents/{intent_id}': publishing(
    'getIntent',
    'apps.artifact.read',
  ),
  'POST /api/v1/projects/{project_id}/app-artifacts/publish-intents/{intent_id}/unwrap': publishing(
    'unwrapCredential',
    'apps.artifact.publish',
  ),
  'POST /api/v1/projects/{project_id}/app-artifacts': artifacts('registerArtifact', 'apps.artifact.publish'),
  'GET /api/v1/projects/{project_id}/app-artifacts': artifacts('listArtifacts', 'apps.artifact.read'),
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}': artifacts(
    'getArtifact',
    'apps.artifact.read',
  ),

  'GET /api/v1/admin/artifacts/trust-policies': artifacts('listTrustPolicies', 'apps.trust.write'),
  'GET /api/v1/admin/artifacts/trust-policies/{policy_name}': artifacts('getTrustPolicy', 'apps.trust.write'),
  'PUT /api/v1/admin/artifacts/trust-policies/{policy_name}': artifacts('putTrustPolicy', 'apps.trust.write'),
  'DELETE /api/v1/admin/artifacts/trust-policies/{policy_name}': artifacts(
    'removeTrustPolicy',
    'apps.trust.write',
  ),
  'GET /api/v1/admin/artifacts/revoked-certificates': artifacts(
    'listRevokedCertificates',
    'apps.trust.write',
  ),
  'PUT /api/v1/admin/artifacts/revoked-certificates/{fingerprint}': artifacts(
    'revokeCertificate',
    'apps.trust.write',
  ),
  'DELETE /api/v1/admin/artifacts/revoked-certificates/{fingerprint}': artifacts(
    'restoreCertificate',
    'apps.trust.write',
  ),
  'GET /api/v1/admin/artifacts/garbage': artifacts('listGarbage', 'apps.catalog.publish'),
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/verify': artifacts(
    'verifyArtifact',
    'apps.artifact.publish',
  ),
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/promote': artifacts(
    'promoteArtifact',
    'apps.catalog.publish',
  ),
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/promotion': artifacts(
    'getArtifactPromotion',
    'apps.artifact.read',
  ),
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/rollback': artifacts(
    'rollBackArtifact',
    'apps.catalog.publish',
  ),
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/deprecate': artifacts(
    'deprecateArtifact',
    'apps.catalog.publish',
  ),
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/retire': artifacts(
    'retireArtifact',
    'apps.catalog.publish',
  ),
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke': artifacts(
    'revokeArtifact',
    'apps.artifact.revoke',
  ),
  'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke/dry-run': artifacts(
    'dryRunRevocation',
    'apps.artifact.revoke',
  ),
  'GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/usage': artifacts(
    'getUsage',
    'apps.artifact.read',
  ),
} as const satisfies Record<`${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`, Route>;

export type RouteKey = keyof typeof routes;

type Routes = (typeof routes)[RouteKey];

export type Domain = Routes['domain'];

export type HandlerName<D extends Domain> = Extract<Routes, { domain: D }>['handler'];

/** Where a permission is asked for, by what the path names. */
export type Scope = 'project' | 'org' | 'platform';

export function scopeOf(route: string): Scope {
  if (route.includes('{project_id}')) return 'project';
  return route.includes('{org_id}') ? 'org' : 'platform';
}
