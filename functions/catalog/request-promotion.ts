import type { Change } from '../platform/change.ts';
import type { Context } from '../platform/context.ts';
import type { ProblemCode } from '../platform/errors.ts';
import { placeOfApp } from './app.ts';
import type { Standing } from './decide-move.ts';
import { findRelease } from './find-release.ts';
import { aboutPromotion, type Promotion, PromotionRequested, subjectOfPromotion } from './promotion.ts';
import { firstRankOf, type Request } from './promotion-plan.ts';
import { requireArtifacts, requireStatus, savePromotion } from './promotion-store.ts';
import { promotionPath, viewPromotion } from './promotion-view.ts';
import { requireBound } from './readiness.ts';

/** What every command that begins a promotion may refuse with. */
export const PROMOTION_REFUSALS = [
  'app.unknown',
  'version.unknown',
  'version.wrong_status',
  'promotion.in_progress',
] as const satisfies ProblemCode[];

/** What every command that begins a promotion does; the relay then starts the workflow. */
export async function requestPromotion(
  ctx: Context,
  params: { app_slug: string; version: string },
  reason: string,
  plan: (release: Standing, request: Request) => Promotion,
): Promise<Change> {
  const release = await findRelease(params);
  const { operationId, correlationId, actor, now } = {
    ...ctx,
    operationId: ctx.newId(),
    now: ctx.now(),
  };
  const promotion = plan(release, { operationId, correlationId, actor, reason, now });
  const { app, version } = release;
  const rank = firstRankOf(promotion);
  if (rank) requireBound(version);
  return {
    subject: subjectOfPromotion(promotion),
    after: aboutPromotion(promotion),
    reason,
    place: placeOfApp(app),
    writes: [
      savePromotion(release.promotion, promotion),
      requireStatus(version),
      ...(rank ? requireArtifacts(version, rank) : []),
    ],
    events: [PromotionRequested(promotion)],
    location: promotionPath(version),
    reply: { ...viewPromotion(promotion, version, true) },
  };
}
