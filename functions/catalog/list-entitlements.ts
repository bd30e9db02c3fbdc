import * as v from 'valibot';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ProjectId } from '../platform/ids.ts';
import { PageQuery } from '../platform/page.ts';
import { EntitlementPage, offerTo, viewEntitlement } from './entitlement.ts';
import { readCatalogSays } from './entitlement-store.ts';
import { pageBySlug } from './slug-page.ts';

export const listEntitlements = query(
  {
    summary: 'List the entitlements of a project, its own and those of its organisation',
    params: v.object({ project_id: ProjectId }),
    query: v.strictObject(PageQuery),
    reply: EntitlementPage,
  },
  async (ctx, { query: page }) => {
    const { id, org_id } = projectOf(ctx);
    const place = { org_id, project_id: id };
    const { catalog, org, own } = await readCatalogSays(place);
    const slugs = [...new Set([...org.keys(), ...own.keys()])].sort();
    return pageBySlug(
      slugs,
      (slug) => slug,
      page,
      (slug) => {
        const offer = offerTo(catalog.get(slug)?.app, place);
        return viewEntitlement(slug, offer, { org: org.get(slug), own: own.get(slug) });
      },
    );
  },
);
