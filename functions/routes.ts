// The whole API on one page, as data: method, path, who answers, who may call. The CDK app makes one gateway route
// of each line; the OpenAPI document, the authorization matrix and the audit test walk the same tables.

import type { Permission } from './platform/permissions.ts';

/**
 * `public`: anyone. `signed_in`: whoever holds a valid token. `iam`: signed with AWS credentials, for the platform
 * team. Everything else is a permission, asked for in the project, the organisation or the platform the path names.
 */
export type Requirement = Permission | 'public' | 'signed_in' | 'iam';

/** The routes of one domain: its function carries these, and not those of the others. */
export type Table = Record<
  `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`,
  readonly [handler: string, permission: Requirement]
>;

export type HandlerName<T extends Table> = FirstOf<T[keyof T]>;

type FirstOf<Row> = Row extends readonly [infer Handler extends string, unknown] ? Handler : never;

export const selftestRoutes = {
  'GET /api/v1/health': ['getHealth', 'public'],
  'POST /api/v1/selftests': ['requestSelftest', 'iam'],
  'GET /api/v1/selftests/{selftest_id}': ['getSelftest', 'iam'],
  'POST /api/v1/admin/selftests': ['requestSelftest', 'platform.selftest.run'],
  'GET /api/v1/admin/selftests/{selftest_id}': ['getSelftest', 'platform.selftest.run'],
} as const satisfies Table;

export const docsRoutes = {
  'GET /api/v1/openapi.json': ['getOpenapi', 'public'],
  'GET /api/v1/asyncapi.json': ['getAsyncapi', 'public'],
  'GET /docs': ['getDocs', 'public'],
  'GET /api/v1/schemas/app-manifest/v1': ['getManifestSchema', 'public'],
} as const satisfies Table;

export const identityRoutes = {
  'GET /api/v1/me': ['getMe', 'signed_in'],
  'GET /api/v1/orgs': ['listOrgs', 'signed_in'],
  'POST /api/v1/orgs': ['createOrg', 'platform.org.create'],
  'GET /api/v1/orgs/{org_id}': ['getOrg', 'org.read'],
  'PATCH /api/v1/orgs/{org_id}': ['renameOrg', 'org.write'],
  'GET /api/v1/orgs/{org_id}/members': ['listOrgMembers', 'org.member.read'],
  'PUT /api/v1/orgs/{org_id}/members/{user_id}': ['putOrgMember', 'org.member.write'],
  'DELETE /api/v1/orgs/{org_id}/members/{user_id}': ['removeOrgMember', 'org.member.write'],
  'GET /api/v1/orgs/{org_id}/invitations': ['listInvitations', 'org.member.read'],
  'POST /api/v1/orgs/{org_id}/invitations': ['createInvitation', 'org.member.write'],
  'DELETE /api/v1/orgs/{org_id}/invitations/{invitation_id}': ['revokeInvitation', 'org.member.write'],
  'POST /api/v1/invitations/accept': ['acceptInvitation', 'signed_in'],

  'GET /api/v1/orgs/{org_id}/projects': ['listProjects', 'org.read'],
  'POST /api/v1/orgs/{org_id}/projects': ['createProject', 'project.create'],
  'GET /api/v1/projects/{project_id}': ['getProject', 'project.read'],
  'PATCH /api/v1/projects/{project_id}': ['renameProject', 'project.write'],
  'POST /api/v1/projects/{project_id}/archive': ['archiveProject', 'project.archive'],
  'POST /api/v1/projects/{project_id}/unarchive': ['unarchiveProject', 'project.archive'],
  'GET /api/v1/projects/{project_id}/members': ['listProjectMembers', 'project.member.read'],
  'PUT /api/v1/projects/{project_id}/members/{user_id}': ['putProjectMember', 'project.member.write'],
  'DELETE /api/v1/projects/{project_id}/members/{user_id}': ['removeProjectMember', 'project.member.write'],

  'GET /api/v1/projects/{project_id}/service-accounts': ['listServiceAccounts', 'service_account.read'],
  'POST /api/v1/projects/{project_id}/service-accounts': ['createServiceAccount', 'service_account.write'],
  'GET /api/v1/projects/{project_id}/service-accounts/{service_account_id}': [
    'getServiceAccount',
    'service_account.read',
  ],
  'PATCH /api/v1/projects/{project_id}/service-accounts/{service_account_id}': [
    'changeServiceAccount',
    'service_account.write',
  ],
  'DELETE /api/v1/projects/{project_id}/service-accounts/{service_account_id}': [
    'deleteServiceAccount',
    'service_account.write',
  ],
  'POST /api/v1/projects/{project_id}/service-accounts/{service_account_id}/disable': [
    'disableServiceAccount',
    'service_account.write',
  ],
  'POST /api/v1/projects/{project_id}/service-accounts/{service_account_id}/enable': [
    'enableServiceAccount',
    'service_account.write',
  ],
  'POST /api/v1/projects/{project_id}/service-accounts/{service_account_id}/rotate-key': [
    'rotateServiceAccountKey',
    'service_account.write',
  ],

  'POST /api/v1/auth/service-account/token': ['mintToken', 'public'],
  'POST /api/v1/auth/sa/token': ['mintToken', 'public'],
  'GET /.well-known/jwks.json': ['getJwks', 'public'],
  'GET /.well-known/openid-configuration': ['getOpenidConfiguration', 'public'],
  'GET /api/v1/admin/signing-keys': ['listSigningKeys', 'platform.signing_key.rotate'],
  'POST /api/v1/admin/signing-keys/rotate': ['rotateSigningKey', 'platform.signing_key.rotate'],

  'GET /api/v1/projects/{project_id}/audit': ['listProjectAudit', 'audit.read'],
  'GET /api/v1/admin/audit': ['listAudit', 'platform.audit.read'],
  'GET /api/v1/projects/{project_id}/events': ['listEvents', 'event.read'],
  'POST /api/v1/projects/{project_id}/events/tickets': ['createEventTicket', 'event.read'],
} as const satisfies Table;

export const catalogRoutes = {
  'GET /api/v1/apps/catalog': ['listApps', 'signed_in'],
  'GET /api/v1/apps/catalog/{app_slug}': ['getApp', 'signed_in'],
  'GET /api/v1/apps/catalog/{app_slug}/versions': ['listVersions', 'signed_in'],
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}': ['getVersion', 'signed_in'],
  'GET /api/v1/projects/{project_id}/apps/catalog': ['listProjectApps', 'apps.catalog.read'],

  'GET /api/v1/projects/{project_id}/apps/entitlements': ['listEntitlements', 'apps.entitlement.read'],
  'GET /api/v1/projects/{project_id}/apps/entitlements/{app_slug}': [
    'getEntitlement',
    'apps.entitlement.read',
  ],
  'PUT /api/v1/projects/{project_id}/apps/entitlements/{app_slug}': [
    'putEntitlement',
    'apps.entitlement.write',
  ],
  'GET /api/v1/orgs/{org_id}/apps/entitlements': ['listOrgEntitlements', 'apps.entitlement.read'],
  'GET /api/v1/orgs/{org_id}/apps/entitlements/{app_slug}': ['getOrgEntitlement', 'apps.entitlement.read'],
  'PUT /api/v1/orgs/{org_id}/apps/entitlements/{app_slug}': ['putOrgEntitlement', 'apps.entitlement.write'],

  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/promote': [
    'promoteVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/publish': [
    'publishVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/rollback': [
    'rollBackVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/deprecate': [
    'deprecateVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/retire': [
    'retireVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/smoke': [
    'answerSmoke',
    'apps.catalog.publish',
  ],
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}/promotion': ['getPromotion', 'signed_in'],
} as const satisfies Table;

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
  'POST /api/v1/projects/{project_id}/apps/manifests/validate': ['validateManifest', 'apps.manifest.submit'],
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
  'GET /api/v1/admin/artifacts/garbage': ['listGarbage', 'apps.catalog.publish'],
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

export const tables = {
  artifacts: artifactsRoutes,
  catalog: catalogRoutes,
  docs: docsRoutes,
  identity: identityRoutes,
  manifests: manifestsRoutes,
  publishing: publishingRoutes,
  selftest: selftestRoutes,
};

export type Tables = typeof tables;

export type Domain = keyof Tables;

export type RouteKey = { [D in Domain]: keyof Tables[D] }[Domain];

interface Route {
  domain: Domain;
  handler: string;
  permission: Requirement;
}

/** Every route with its domain. No function uses this, and marked so it is in none of their bundles. */
export const routes = /* @__PURE__ */ gather(tables);

function gather(from: Record<Domain, Table>): Record<RouteKey, Route> {
  const all = Object.entries(from).flatMap(([domain, table]) =>
    Object.entries(table).map(([route, [handler, permission]]) => [route, { domain, handler, permission }]),
  );
  return Object.fromEntries(all) as Record<RouteKey, Route>;
}

/** Where a permission is asked for, by what the path names. */
export type Scope = 'project' | 'org' | 'platform';

export function scopeOf(route: string): Scope {
  if (route.includes('{project_id}')) return 'project';
  return route.includes('{org_id}') ? 'org' : 'platform';
}
