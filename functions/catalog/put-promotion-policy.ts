import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import { findPromotionPolicy, savePromotionPolicy } from '../promotion/keep-policy.ts';
import {
  planPromotionPolicy,
  POLICY_SUBJECT,
  PromotionPolicy,
  PromotionPolicyChanged,
  PutPromotionPolicy,
} from '../promotion/promotion-policy.ts';

export const putPromotionPolicy = command(
  {
    summary: 'Set the policy that promotions follow: the smoke gate, the canary and the grace period',
    action: 'catalog.promotion_policy.put',
    body: PutPromotionPolicy,
    reply: PromotionPolicy,
    refusals: ['precondition.failed'],
  },
  async (ctx, { body }) => {
    const before = await findPromotionPolicy();
    const stale = requireVersion(before, ctx.ifMatch);
    const after = planPromotionPolicy(before, body, nameActor(ctx.actor), ctx.now());
    return {
      subject: POLICY_SUBJECT,
      before,
      after,
      reason: body.reason,
      writes: [savePromotionPolicy(before, after, stale)],
      events: [PromotionPolicyChanged(after)],
      reply: { ...after },
    };
  },
);
