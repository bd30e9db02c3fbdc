import type { Table } from '../platform/route.ts';

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
  'POST /api/v1/auth/node/token': ['mintNodeToken', 'public'],
  'GET /.well-known/jwks.json': ['getJwks', 'public'],
  'GET /.well-known/openid-configuration': ['getOpenidConfiguration', 'public'],
  'GET /api/v1/admin/signing-keys': ['listSigningKeys', 'platform.signing_key.rotate'],
  'POST /api/v1/admin/signing-keys/rotate': ['rotateSigningKey', 'platform.signing_key.rotate'],
} as const satisfies Table;
