import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import { findPromotableVersion } from './promotable-version.ts';
import { aboutPromotion, AnswerSmoke, SmokeAnswered, subjectOfPromotion } from '../promotion/promotion.ts';
import { answerSmoke as answer } from '../promotion/promotion-steps.ts';
import { savePromotion } from '../promotion/promotion-store.ts';
import { PromotionView, viewPromotion } from '../promotion/promotion-view.ts';
import { VersionParams } from './version.ts';

export const answerSmoke = command(
  {
    summary: 'Say how the smoke run of a version went, which its promotion waits for',
    action: 'catalog.version.answer_smoke',
    params: VersionParams,
    body: AnswerSmoke,
    reply: PromotionView,
    refusals: ['app.unknown', 'version.unknown', 'promotion.not_waiting'],
  },
  async (ctx, { params, body }) => {
    const at = await findPromotableVersion(params);
    const { promotion, place } = at;
    const answered = answer(promotion, body, nameActor(ctx.actor), ctx.now());
    return {
      subject: subjectOfPromotion(answered),
      before: promotion && aboutPromotion(promotion),
      after: { ...aboutPromotion(answered), smoke: answered.gates.smoke },
      reason: body.notes,
      place,
      writes: [savePromotion(promotion, answered)],
      events: [SmokeAnswered(answered, body)],
      reply: { ...viewPromotion(answered, at, true) },
    };
  },
);
