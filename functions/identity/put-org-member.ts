import { orgOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased } from '../platform/ids.ts';
import { requireGiveable } from './giving.ts';
import {
  entryEvents,
  give,
  MemberView,
  OrgMemberParams,
  PutOrgMember,
  requireAdminLeft,
  requireKnown,
  viewAt,
} from './member.ts';
import { findUserAndOrg, saveMembership } from './member-store.ts';

export const putOrgMember = command(
  {
    summary: 'Give a person a role in the whole organisation',
    action: 'identity.org_member.put',
    params: OrgMemberParams,
    body: PutOrgMember,
    reply: MemberView,
    refusals: ['member.unknown', 'permission.not_held', 'member.last_admin', 'member.too_many_grants'],
  },
  async (ctx, { params, body }) => {
    const place = { org_id: orgOf(ctx).id };
    const { user, org, grants } = await findUserAndOrg(ctx, lowerCased(params.user_id), place.org_id);
    const before = requireKnown(user, place.org_id);
    requireGiveable({ actor: ctx.actor, grants, place }, body);
    const after = give(before, place, body.role, ctx.now());
    requireAdminLeft(org, before, after);
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
