import * as v from 'valibot';
import { nameActor } from '../platform/actor.ts';
import { callerNow } from '../platform/auth/caller.ts';
import { orgOf } from '../platform/context.ts';
import { projectKey } from '../platform/data/keys.ts';
import { command } from '../platform/http/endpoint.ts';
import { makeOneTimeToken } from '../platform/auth/one-time-token.ts';
import { lowerCased, type OrgId, type ProjectId } from '../platform/ids.ts';
import { requireGiveable } from './giving.ts';
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
import { Project } from './project.ts';
import { refuse } from './problems.ts';

export const createInvitation = command(
  {
    summary: 'Invite a person to the organisation or one of its projects',
    action: 'identity.invitation.create',
    params: OrgParams,
    body: CreateInvitation,
    reply: InvitationCreatedView,
    status: 201,
    refusals: ['project.unknown', 'permission.not_held'],
  },
  async (ctx, { body }) => {
    const orgId = orgOf(ctx).id;
    const projectId = body.project_id && lowerCased(body.project_id);
    const { grants, items } = await callerNow(ctx, projectId === undefined ? [] : [projectKey(projectId)]);
    const place = placeWithin(orgId, projectId, items[0]);
    const { token, tokenHash } = makeOneTimeToken();
    const wanted = { email: body.email, role: body.role, place };
    const by = { tokenHash, actor: nameActor(ctx.actor) };
    const invitation = planInvitation(ctx.newId(), wanted, by, ctx.now());
    requireGiveable({ actor: ctx.actor, grants, place }, wanted);
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

function placeWithin(orgId: OrgId, projectId: ProjectId | undefined, item: unknown): MemberPlace {
  if (projectId === undefined) return { org_id: orgId };
  const project = v.parse(v.optional(Project), item);
  if (project?.org_id !== orgId) throw refuse('project.unknown');
  return { org_id: orgId, project_id: project.id };
}
