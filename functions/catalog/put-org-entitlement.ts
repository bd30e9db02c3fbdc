import { nameActor } from '../platform/actor.ts';
import { orgOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import {
  EntitlementChanged,
  EntitlementView,
  offerTo,
  OrgEntitlementParams,
  planEntitlement,
  PutEntitlement,
  requireRoom,
  requireSomethingLeft,
  subjectOfEntitlement,
  viewOrgEntitlement,
} from './entitlement.ts';
import { findAppSays, saveEntitlement } from './entitlement-store.ts';
import { refuse } from './problems.ts';

export const putOrgEntitlement = command(
  {
    summary: 'Enable or disable an app for an organisation, and restrict how it may be launched',
    action: 'catalog.org_entitlement.put',
    params: OrgEntitlementParams,
    body: PutEntitlement,
    reply: EntitlementView,
    refusals: ['app.unknown', 'entitlement.too_many', 'precondition.failed'],
  },
  async (ctx, { params: { app_slug }, body }) => {
    const place = { org_id: orgOf(ctx).id };
    const { app, org: before, count } = await findAppSays(app_slug, place);
    const offer = offerTo(app, place);
    if (!offer) throw refuse('app.unknown');
    const stale = requireVersion({ version: before?.version ?? 0 }, ctx.ifMatch);
    requireSomethingLeft(offer, body);
    requireRoom(before, count);
    const after = planEntitlement(before, body, nameActor(ctx.actor), ctx.now());
    return {
      subject: subjectOfEntitlement(app_slug),
      before,
      after,
      writes: [saveEntitlement(place, app_slug, before, after, stale)],
      events: [EntitlementChanged(app_slug, place, after)],
      reply: { ...viewOrgEntitlement(app_slug, offer, after) },
    };
  },
);
