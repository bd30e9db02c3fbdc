import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import {
  EntitlementChanged,
  EntitlementParams,
  EntitlementView,
  offerTo,
  planEntitlement,
  PutEntitlement,
  requireRoom,
  requireSomethingLeft,
  requireWithinOrg,
  subjectOfEntitlement,
  viewEntitlement,
} from './entitlement.ts';
import { findAppSays, saveEntitlement } from './entitlement-store.ts';
import { refuse } from './problems.ts';

export const putEntitlement = command(
  {
    summary: 'Enable or disable an app for a project, and restrict how it may be launched',
    action: 'catalog.entitlement.put',
    params: EntitlementParams,
    body: PutEntitlement,
    reply: EntitlementView,
    refusals: [
      'app.unknown',
      'project.archived',
      'entitlement.wider_than_org',
      'entitlement.too_many',
      'precondition.failed',
    ],
  },
  async (ctx, { params: { app_slug }, body }) => {
    const { id, org_id, status } = projectOf(ctx);
    if (status === 'archived') throw refuse('project.archived');
    const place = { org_id, project_id: id };
    const { app, org, own, count } = await findAppSays(app_slug, place);
    const offer = offerTo(app, place);
    if (!offer) throw refuse('app.unknown');
    const stale = requireVersion({ version: own?.version ?? 0 }, ctx.ifMatch);
    requireSomethingLeft(offer, body);
    requireWithinOrg(org, body);
    requireRoom(own, count);
    const after = planEntitlement(own, body, nameActor(ctx.actor), ctx.now());
    return {
      subject: subjectOfEntitlement(app_slug),
      before: own,
      after,
      writes: [saveEntitlement(place, app_slug, own, after, stale)],
      events: [EntitlementChanged(app_slug, place, after)],
      reply: { ...viewEntitlement(app_slug, offer, { org, own: after }) },
    };
  },
);
