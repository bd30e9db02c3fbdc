import * as v from 'valibot';
import { orgOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { Id } from '../platform/name.ts';
import { PageQuery } from '../platform/page.ts';
import { EntitlementPage, offerTo, viewOrgEntitlement } from './entitlement.ts';
import { readCatalogSays } from './entitlement-store.ts';
import { pageBySlug } from './slug-page.ts';

export const listOrgEntitlements = query(
  {
    summary: 'What an organisation allows its projects, unless they narrow it',
    params: v.object({ org_id: Id }),
    query: v.strictObject(PageQuery),
    reply: EntitlementPage,
  },
  async (ctx, { query: page }) => {
    const { id } = orgOf(ctx);
    const { catalog, org } = await readCatalogSays({ org_id: id });
    return pageBySlug(
      [...org.keys()].sort(),
      (slug) => slug,
      page,
      (slug) => viewOrgEntitlement(slug, offerTo(catalog.get(slug)?.app, id), org.get(slug)),
    );
  },
);
