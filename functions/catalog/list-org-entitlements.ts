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
    const place = { org_id: orgOf(ctx).id };
    const { catalog, org } = await readCatalogSays(place);
    return pageBySlug(
      [...org.keys()].sort(),
      (slug) => slug,
      page,
      (slug) => viewOrgEntitlement(slug, offerTo(catalog.get(slug)?.app, place), org.get(slug)),
    );
  },
);
