import * as v from 'valibot';
import type { PlatformEvent } from '../platform/events.ts';
import { findPromotable } from './find-promotable.ts';
import type { Promotable } from './promotable.ts';
import type { Promotion, Subject } from './promotion.ts';

const Told = v.union([
  v.object({ operation_id: v.string(), artifact_id: v.string() }),
  v.object({ operation_id: v.string(), app_slug: v.string(), app_version: v.string() }),
]);

/** What an event tells of, as it is now; nothing where another promotion has taken the place of that one. */
export async function findToldPromotion({
  data,
}: PlatformEvent): Promise<(Promotable & { promotion: Promotion }) | undefined> {
  const told = v.parse(Told, data);
  const subject: Subject =
    'artifact_id' in told
      ? { kind: 'artifact', artifact_id: told.artifact_id }
      : { kind: 'version', app_slug: told.app_slug, version: told.app_version };
  const { promotion, ...at } = await findPromotable(subject);
  return promotion?.operation_id === told.operation_id ? { ...at, promotion } : undefined;
}
