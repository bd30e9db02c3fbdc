import { nameActor } from '../platform/actor.ts';
import { orgOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { makeOneTimeToken } from '../platform/auth/one-time-token.ts';
import { lowerCased, type OrgId, type ProjectId } from '../platform/ids.ts';
import {
  CreateInvitation,
  InvitationCreated,
  InvitationCreatedView,
  planInvitation,
  viewInvitation,
} from './invitation.ts';
import { insertInvitation } from './invitation-store.ts';
import type { MemberPlace } from './member.ts';
import { OrgParams } from './org.ts';
import { findProject } from './project-store.ts';
import { refuse } from './problems.ts';

export const createInvitation = command(
  {
    summary: 'Invite a person to the organisation or one of its projects',
    action: 'identity.invitation.create',
    params: OrgParams,
    body: CreateInvitation,
    reply: InvitationCreatedView,
    status: 201,
    refusals: ['project.unknown'],
  },
  async (ctx, { body }) => {
    const place = await placeWithin(orgOf(ctx).id, body.project_id);
    const { token, tokenHash } = makeOneTimeToken();
    const wanted = { email: body.email, role: body.role, place };
    const by = { tokenHash, actor: nameActor(ctx.actor) };
    const invitation = planInvitation(ctx.newId(), wanted, by, ctx.now());
    return {
      subject: `invitation:${invitation.id}`,
      after: viewInvitation(invitation),
      writes: insertInvitation(invitation),
      events: [InvitationCreated(invitation)],
      reply: viewInvitation(invitation),
      secrets: { invitation_token: token },
    };
  },
);

async function placeWithin(orgId: OrgId, projectId: ProjectId | undefined): Promise<MemberPlace> {
  if (projectId === undefined) return { org_id: orgId };
  const project = await findProject(lowerCased(projectId));
  if (project.org_id !== orgId) throw refuse('project.unknown');
  return { org_id: orgId, project_id: project.id };
}
