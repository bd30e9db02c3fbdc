import type { Context } from '../platform/context.ts';
import { commitDecision, type Decision } from '../platform/data/change.ts';
import { Conflict } from '../platform/data/commit.ts';
import type { OperationId } from '../platform/ids.ts';
import type { Kind } from './kind.ts';
import type { Subject, Target } from './promotion.ts';
import { advance, delayOf, type Outcome, outcomeOf } from './promotion-steps.ts';
import type { Status } from './status.ts';

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
} as const satisfies Record<Target, Status>;

interface Advance {
  subject: Subject;
  operation_id: OperationId;
  to: Target;
}

/** Makes one transition, once however often it is requested, and returns what the workflow does next. */
export async function advancePromotion(ctx: Context, kind: Kind, step: Advance): Promise<Outcome> {
  if (step.to === 'active') await kind.judge?.(ctx, step.subject);
  let outcome: Outcome | undefined;
  await commitDecision(ctx, `${kind.audited}.${VERBS[step.to]}`, async () => {
    const decided = await decide(ctx, kind, step);
    outcome = decided.outcome;
    return decided.decision;
  });
  if (!outcome) throw new Error('The step made no decision.');
  return outcome;
}

async function decide(
  ctx: Context,
  kind: Kind,
  { subject, operation_id, to }: Advance,
): Promise<{ outcome: Outcome; decision?: Decision }> {
  const now = ctx.now();
  const at = await kind.find(subject);
  const { promotion, status } = at;
  const before = outcomeOf(promotion, operation_id, to) ?? delayOf(at, to, now);
  if (before || !promotion) return { outcome: before ?? { decision: 'over', until: now.toISOString() } };
  // The rows were not read at one moment.
  if (status !== FROM[to]) throw new Conflict(`The status of the ${kind.name} does not match its promotion.`);
  kind.requireGates(promotion, to);
  const after = advance(promotion, to, now);
  const decision = await at.move(to, after, now);
  const outcome = outcomeOf(after, operation_id, to);
  if (!outcome) throw new Error(`A promotion that reached ${to} cannot be at step “${after.step}”.`);
  const { actor, reason } = promotion;
  return { outcome, decision: { ...decision, actor, reason } };
}
