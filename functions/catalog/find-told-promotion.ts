import type { EventOf } from '../platform/events.ts';
import { findPromotable } from './find-promotable.ts';
import type { Promotable } from '../promotion/promotable.ts';
import type {
  ArtifactPromotionRequested,
  Promotion,
  SmokeAnswered,
  Subject,
  VersionPromotionRequested,
} from '../promotion/promotion.ts';

type Telling = typeof VersionPromotionRequested | typeof ArtifactPromotionRequested | typeof SmokeAnswered;

/** What an event tells of, as it is now; nothing where another promotion has taken the place of that one. */
export async function findToldPromotion({
  data,
}: EventOf<Telling>): Promise<(Promotable & { promotion: Promotion }) | undefined> {
  const subject: Subject =
    'artifact_id' in data
      ? { kind: 'artifact', artifact_id: data.artifact_id }
      : { kind: 'version', app_slug: data.app_slug, version: data.app_version };
  const { promotion, ...at } = await findPromotable(subject);
  return promotion?.operation_id === data.operation_id ? { ...at, promotion } : undefined;
}
