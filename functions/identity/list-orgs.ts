import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { judge } from '../platform/permissions.ts';
import { OrgPage, viewOrg } from './org.ts';
import { listAllOrgs, listOwnOrgs } from './org-store.ts';

/** The caller's own organisations; all of them for callers who may read every organisation. */
export const listOrgs = query(
  { summary: 'List your organisations', query: v.strictObject(PageQuery), reply: OrgPage },
  async (ctx, { query: page }) => {
    // Who reaches every organisation is told by the deployment, and does not change meanwhile.
    const isEverywhere = judge(ctx.grants, 'org.read', {}) === 'allowed';
    const { items, next_cursor } = await (isEverywhere ? listAllOrgs(page) : listOwnOrgs(ctx, page));
    return { items: items.map(viewOrg), next_cursor };
  },
);
