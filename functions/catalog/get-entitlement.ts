import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { EntitlementParams, EntitlementView, offerTo, viewEntitlement } from './entitlement.ts';
import { findAppSays } from './entitlement-store.ts';
import { refuse } from './problems.ts';

export const getEntitlement = query(
  {
    summary: 'Get the entitlement of a project to an app',
    params: EntitlementParams,
    reply: EntitlementView,
    refusals: ['app.unknown', 'entitlement.unknown'],
  },
  async (ctx, { params }) => {
    const { id, org_id } = projectOf(ctx);
    const place = { org_id, project_id: id };
    const { app, ...says } = await findAppSays(params.app_slug, place);
    const offer = offerTo(app, place);
    const view = viewEntitlement(params.app_slug, offer, says);
    if (!view) throw refuse(offer ? 'entitlement.unknown' : 'app.unknown');
    return view;
  },
);
