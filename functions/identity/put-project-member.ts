import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased } from '../platform/ids.ts';
import { requireGiveable } from './giving.ts';
import {
  entryEvents,
  give,
  MemberView,
  ProjectMemberParams,
  PutProjectMember,
  requireKnown,
  viewAt,
} from './member.ts';
import { findUserForCaller, saveMembership } from './member-store.ts';

export const putProjectMember = command(
  {
    summary: 'Give a member of the organisation a role in the project',
    action: 'identity.project_member.put',
    params: ProjectMemberParams,
    body: PutProjectMember,
    reply: MemberView,
    refusals: ['member.unknown', 'permission.not_held', 'member.too_many_grants'],
  },
  async (ctx, { params, body }) => {
    const { id, org_id } = projectOf(ctx);
    const place = { org_id, project_id: id };
    const { user, grants } = await findUserForCaller(ctx, lowerCased(params.user_id));
    const before = requireKnown(user, org_id);
    requireGiveable({ actor: ctx.actor, grants, place }, body);
    const after = give(before, place, body.role, ctx.now());
    return {
      subject: `user:${after.id}`,
      before: viewAt(before, place),
      after: viewAt(after, place),
      writes: saveMembership(before, after),
      events: entryEvents(before, after),
      reply: { ...viewAt(after, place) },
    };
  },
);
