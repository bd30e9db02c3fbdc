import * as v from 'valibot';
import { orgOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { OrgParams } from './org.ts';
import { ProjectPage, viewProject } from './project.ts';
import { listProjectsOf } from './project-store.ts';

export const listProjects = query(
  {
    summary: 'List the projects of an organisation',
    params: OrgParams,
    query: v.strictObject(PageQuery),
    reply: ProjectPage,
  },
  async (ctx, { query: page }) => {
    const { items, next_cursor } = await listProjectsOf(orgOf(ctx).id, page);
    return { items: items.map(viewProject), next_cursor };
  },
);
