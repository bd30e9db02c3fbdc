import { acceptInvitation } from './accept-invitation.ts';
import { archiveProject } from './archive-project.ts';
import { changeServiceAccount } from './change-service-account.ts';
import { createInvitation } from './create-invitation.ts';
import { createOrg } from './create-org.ts';
import { createProject } from './create-project.ts';
import { createServiceAccount } from './create-service-account.ts';
import { deleteServiceAccount } from './delete-service-account.ts';
import { disableServiceAccount } from './disable-service-account.ts';
import { enableServiceAccount } from './enable-service-account.ts';
import { getJwks } from './get-jwks.ts';
import { getMe } from './get-me.ts';
import { getOpenidConfiguration } from './get-openid-configuration.ts';
import { getOrg } from './get-org.ts';
import { getProject } from './get-project.ts';
import { getServiceAccount } from './get-service-account.ts';
import { listInvitations } from './list-invitations.ts';
import { listOrgMembers } from './list-org-members.ts';
import { listOrgs } from './list-orgs.ts';
import { listProjectMembers } from './list-project-members.ts';
import { listProjects } from './list-projects.ts';
import { listServiceAccounts } from './list-service-accounts.ts';
import { listSigningKeys } from './list-signing-keys.ts';
import { mintNodeToken } from './mint-node-token.ts';
import { mintToken } from './mint-token.ts';
import { putOrgMember } from './put-org-member.ts';
import { putProjectMember } from './put-project-member.ts';
import { removeOrgMember } from './remove-org-member.ts';
import { removeProjectMember } from './remove-project-member.ts';
import { renameOrg } from './rename-org.ts';
import { renameProject } from './rename-project.ts';
import { revokeInvitation } from './revoke-invitation.ts';
import { rotateServiceAccountKey } from './rotate-service-account-key.ts';
import { rotateSigningKey } from './rotate-signing-key.ts';
import { unarchiveProject } from './unarchive-project.ts';

/** Every handler of the domain, by the name its routes call it. */
export const identityEndpoints = {
  getMe,
  listOrgs,
  createOrg,
  getOrg,
  renameOrg,
  listOrgMembers,
  putOrgMember,
  removeOrgMember,
  listInvitations,
  createInvitation,
  revokeInvitation,
  acceptInvitation,
  listProjects,
  createProject,
  getProject,
  renameProject,
  archiveProject,
  unarchiveProject,
  listProjectMembers,
  putProjectMember,
  removeProjectMember,
  listServiceAccounts,
  createServiceAccount,
  getServiceAccount,
  changeServiceAccount,
  deleteServiceAccount,
  disableServiceAccount,
  enableServiceAccount,
  rotateServiceAccountKey,
  mintToken,
  mintNodeToken,
  getJwks,
  getOpenidConfiguration,
  listSigningKeys,
  rotateSigningKey,
};
