import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { judge } from '../platform/permissions.ts';
import { OrgPage, viewOrg } from './org.ts';
import { listAllOrgs, listOrgsAmong } from './org-store.ts';

/** The caller's own organisations; all of them for callers who may read every organisation. */
export const listOrgs = query(
  { summary: 'List your organisations', query: v.strictObject(PageQuery), reply: OrgPage },
  async (ctx, { query: page }) => {
    const isEverywhere = judge(ctx.grants, 'org.read', {}) === 'allowed';
    const own = ctx.grants.flatMap(({ org_id }) => org_id ?? []);
    const { items, next_cursor } = await (isEverywhere ? listAllOrgs(page) : listOrgsAmong(own, page));
    return { items: items.map(viewOrg), next_cursor };
  },
);
