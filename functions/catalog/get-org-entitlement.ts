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
    const { id } = orgOf(ctx);
    const { app, org } = await findAppSays(params.app_slug, { org_id: id });
    const offer = offerTo(app, id);
    const view = viewOrgEntitlement(params.app_slug, offer, org);
    if (!view) throw refuse(offer ? 'entitlement.unknown' : 'app.unknown');
    return view;
  },
);
