import { orgOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased } from '../platform/ids.ts';
import {
  changesBetween,
  MemberRemoved,
  OrgMemberParams,
  requireAdminLeft,
  requireKnown,
  takeFromOrg,
} from './member.ts';
import { findUserAndOrg, saveMembership } from './member-store.ts';

export const removeOrgMember = command(
  {
    summary: 'Remove a person from the organisation and all its projects',
    action: 'identity.org_member.remove',
    params: OrgMemberParams,
    status: 204,
    refusals: ['member.unknown', 'member.last_admin'],
  },
  async (ctx, { params }) => {
    const place = { org_id: orgOf(ctx).id };
    const { user, org } = await findUserAndOrg(ctx, lowerCased(params.user_id), place.org_id);
    const before = requireKnown(user, place.org_id);
    const after = takeFromOrg(before, place.org_id);
    requireAdminLeft(org, before, after);
    const { left } = changesBetween(before, after);
    return {
      subject: `user:${after.id}`,
      before: { grants: left },
      after: { grants: [] },
      writes: saveMembership(before, after),
      events: [MemberRemoved(after.id, place, left)],
      reply: {},
    };
  },
);
