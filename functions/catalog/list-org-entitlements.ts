import * as v from 'valibot';
import { orgOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { OrgId } from '../platform/ids.ts';
import { PageQuery } from '../platform/page.ts';
import { EntitlementPage, offerTo, viewOrgEntitlement } from './entitlement.ts';
import { readCatalogSays } from './entitlement-store.ts';
import { pageBySlug } from './slug-page.ts';

export const listOrgEntitlements = query(
  {
    summary: 'List the entitlements of an organisation, which its projects can narrow',
    params: v.object({ org_id: OrgId }),
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
