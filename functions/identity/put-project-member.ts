import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased } from '../platform/ids.ts';
import {
  entryEvents,
  give,
  MemberView,
  ProjectMemberParams,
  PutProjectMember,
  requireKnown,
  viewAt,
} from './member.ts';
import { findUser, saveMembership } from './member-store.ts';

export const putProjectMember = command(
  {
    summary: 'Give a member of the organisation a role in the project',
    action: 'identity.project_member.put',
    params: ProjectMemberParams,
    body: PutProjectMember,
    reply: MemberView,
    refusals: ['member.unknown', 'member.too_many_grants'],
  },
  async (ctx, { params, body }) => {
    const { id, org_id } = projectOf(ctx);
    const place = { org_id, project_id: id };
    const before = requireKnown(await findUser(lowerCased(params.user_id)), org_id);
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
