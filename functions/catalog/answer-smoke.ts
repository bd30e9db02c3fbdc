import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import { auditPromotion } from '../promotion/kind.ts';
import { recordSmoke as answer } from '../promotion/promotion-steps.ts';
import { savePromotion } from '../promotion/keep-promotion.ts';
import { viewPromotion } from '../promotion/promotion-view.ts';
import { findPromotableVersion } from './version-kind.ts';
import { AnswerSmoke, SmokeAnswered, VersionPromotionView } from './version-promotion.ts';
import { VersionParams } from './version.ts';

export const answerSmoke = command(
  {
    summary: 'Report the result of a smoke run that the promotion of a version is waiting for',
    action: 'catalog.version.answer_smoke',
    params: VersionParams,
    body: AnswerSmoke,
    reply: VersionPromotionView,
    refusals: ['app.unknown', 'version.unknown', 'promotion.not_waiting'],
  },
  async (ctx, { params, body }) => {
    const at = await findPromotableVersion(params);
    const { promotion, place } = at;
    const answered = answer(promotion, body, nameActor(ctx.actor), ctx.now());
    const audited = auditPromotion(at.kind, promotion, answered);
    return {
      ...audited,
      after: { ...audited.after, smoke: answered.gates.smoke },
      reason: body.notes,
      place,
      writes: [savePromotion(promotion, answered)],
      events: [SmokeAnswered(answered, body)],
      reply: { ...viewPromotion(answered, at, true) },
    };
  },
);
