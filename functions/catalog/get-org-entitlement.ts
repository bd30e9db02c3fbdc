import { orgOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { EntitlementView, offerTo, OrgEntitlementParams, viewOrgEntitlement } from './entitlement.ts';
import { findAppSays } from './entitlement-store.ts';
import { refuse } from './problems.ts';

export const getOrgEntitlement = query(
  {
    summary: 'Get the entitlement of an organisation to an app',
    params: OrgEntitlementParams,
    reply: EntitlementView,
    refusals: ['app.unknown', 'entitlement.unknown'],
  },
  async (ctx, { params }) => {
    const place = { org_id: orgOf(ctx).id };
    const { app, org } = await findAppSays(params.app_slug, place);
    const offer = offerTo(app, place);
    const view = viewOrgEntitlement(params.app_slug, offer, org);
    if (!view) throw refuse(offer ? 'entitlement.unknown' : 'app.unknown');
    return view;
  },
);
