import * as v from 'valibot';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { MemberPage } from './member.ts';
import { listMembers } from './member-store.ts';
import { ProjectParams } from './project.ts';

/** Those with a role in the project itself; whoever administers the organisation reaches it besides. */
export const listProjectMembers = query(
  {
    summary: 'List the members of a project',
    params: ProjectParams,
    query: v.strictObject(PageQuery),
    reply: MemberPage,
  },
  (ctx, { query: page }) => {
    const { id, org_id } = projectOf(ctx);
    return listMembers({ org_id, project_id: id }, page);
  },
);
