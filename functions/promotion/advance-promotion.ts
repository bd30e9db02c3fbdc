import * as v from 'valibot';
import { commitDecision, type Decision } from '../platform/data/change.ts';
import { Conflict } from '../platform/data/commit.ts';
import type { Context } from '../platform/context.ts';
import { task } from '../platform/workflow/task.ts';
import type { VersionStatus } from '../catalog/app.ts';
import { findPromotable } from '../catalog/find-promotable.ts';
import { judgeCanary } from '../catalog/judge-canary.ts';
import { actionOf, PromotionStep, type Target } from './promotion.ts';
import { advance, delayOf, type Outcome, outcomeOf, requireGates } from './promotion-steps.ts';

const VERBS = {
  staged: 'stage',
  canary: 'begin_canary',
  active: 'activate',
  retired: 'end_retirement',
} as const satisfies Record<Target, string>;

const FROM = {
  staged: 'draft',
  canary: 'staged',
  active: 'canary',
  retired: 'deprecated',
} as const satisfies Record<Target, VersionStatus>;

const AdvancePromotion = v.object({
  ...PromotionStep.entries,
  to: v.picklist(Object.keys(VERBS) as Target[]),
});
type AdvancePromotion = v.InferOutput<typeof AdvancePromotion>;

/** One transition, made once however often it is asked for; and what the workflow is to do next. */
export const handler = task(AdvancePromotion, async (ctx, step): Promise<Outcome> => {
  const { subject, to } = step;
  if (to === 'active' && subject.kind === 'version') await judgeCanary(ctx, subject);
  let outcome: Outcome | undefined;
  await commitDecision(ctx, actionOf(subject, VERBS[to]), async () => {
    const decided = await decide(ctx, step);
    outcome = decided.outcome;
    return decided.decision;
  });
  if (!outcome) throw new Error('The step has decided nothing.');
  return outcome;
});

async function decide(
  ctx: Context,
  { subject, operation_id, to }: AdvancePromotion,
): Promise<{ outcome: Outcome; decision?: Decision }> {
  const now = ctx.now();
  const at = await findPromotable(subject);
  const { promotion, status } = at;
  const before = outcomeOf(promotion, operation_id, to) ?? delayOf(at, to, now);
  if (before || !promotion) return { outcome: before ?? { decision: 'over', until: now.toISOString() } };
  // The rows were not read at one moment.
  if (status !== FROM[to]) throw new Conflict(`The ${subject.kind} is not where its promotion says.`);
  requireGates(promotion, to);
  const after = advance(promotion, to, now);
  const decision = await at.move(to, after, now);
  const outcome = outcomeOf(after, operation_id, to);
  if (!outcome) throw new Error(`A promotion that has come to ${to} cannot be at “${after.step}”.`);
  const { actor, reason } = promotion;
  return { outcome, decision: { ...decision, actor, reason } };
}
