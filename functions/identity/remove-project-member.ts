import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased } from '../platform/ids.ts';
import {
  changesBetween,
  MemberRemoved,
  ProjectMemberParams,
  requireMember,
  takeFromProject,
} from './member.ts';
import { findUser, saveMembership } from './member-store.ts';

/** The organisation's admins remain, so a project may lose its last one. */
export const removeProjectMember = command(
  {
    summary: 'Remove a person from the project',
    action: 'identity.project_member.remove',
    params: ProjectMemberParams,
    status: 204,
    refusals: ['member.unknown'],
  },
  async (ctx, { params }) => {
    const { id, org_id } = projectOf(ctx);
    const place = { org_id, project_id: id };
    const before = requireMember(await findUser(lowerCased(params.user_id)), place);
    const after = takeFromProject(before, place);
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
