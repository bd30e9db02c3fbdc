import * as v from 'valibot';
import type { PlatformEvent } from '../platform/events.ts';
import { findPromotion, type Found } from './promotion-store.ts';

const Told = v.object({ operation_id: v.string(), app_slug: v.string(), app_version: v.string() });

/** The promotion an event tells of, as it is now; nothing where another has taken its place. */
export async function findToldPromotion({
  data,
}: PlatformEvent): Promise<Pick<Found, 'promotion' | 'version'>> {
  const { operation_id, app_slug, app_version } = v.parse(Told, data);
  const { promotion, version } = await findPromotion(app_slug, app_version);
  return promotion?.operation_id === operation_id ? { promotion, version } : {};
}
