import * as v from 'valibot';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { listProjectAccounts } from './service-account-store.ts';
import { ServiceAccountView, viewServiceAccount } from './service-account.ts';

export const listServiceAccounts = query(
  {
    summary: 'List the service accounts of a project, oldest first',
    query: v.strictObject(PageQuery),
    reply: v.object({ items: v.array(ServiceAccountView), next_cursor: v.nullable(v.string()) }),
  },
  async (ctx, { query: page }) => {
    const { items, next_cursor } = await listProjectAccounts(projectOf(ctx).id, page);
    return { items: items.map(viewServiceAccount), next_cursor };
  },
);
