import * as v from 'valibot';
import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision, type Decision } from '../platform/data/change.ts';
import { Conflict } from '../platform/data/commit.ts';
import { type OperationId, textOf } from '../platform/ids.ts';
import { task } from '../platform/workflow/task.ts';
import { WorkflowError } from '../platform/workflow/workflow-error.ts';
import { keepPromotion, savePromotion } from './keep-promotion.ts';
import { auditPromotion, type Kind } from './kind.ts';
import { refuse } from './problems.ts';
import {
  advance,
  awaitLastInstance,
  delayOf,
  fail,
  failureOf,
  type Outcome,
  outcomeOf,
} from './promotion-steps.ts';
import { type Failure, type Subject, type Target, TARGETS } from './promotion.ts';
import type { Status } from './status.ts';

/** The input of each step of the workflow: the subject, and the operation. */
export const stepOf = <S extends Subject>({ subject }: Kind<S>) =>
  v.object({ subject, operation_id: textOf<OperationId>() });

interface Waiting {
  subject: Subject;
  operation_id: OperationId;
  task_token: string;
}

/**
 * The function behind the steps every kind has, by the name the workflow gives each. Asking for a smoke run is the
 * kind's own, where it has one.
 */
export function promotionSteps(kind: Kind, requestSmoke?: (ctx: Context, step: Waiting) => Promise<void>) {
  const { entries } = stepOf(kind);
  const token = { task_token: v.string() };
  const Step = v.variant('run', [
    v.object({ run: v.literal('advance'), ...entries, to: v.picklist(TARGETS) }),
    v.object({ run: v.literal('request_smoke'), ...entries, ...token }),
    v.object({ run: v.literal('watch_instances'), ...entries, ...token }),
    v.object({ run: v.literal('fail'), ...entries, error: WorkflowError }),
  ]);
  return task<AnyStep, unknown>(Step, async (ctx, step) => {
    switch (step.run) {
      case 'advance':
        return advancePromotion(ctx, kind, step);
      case 'request_smoke':
        if (!requestSmoke) throw refuse('promotion.not_waiting');
        return requestSmoke(ctx, step);
      case 'watch_instances':
        return watchInstances(ctx, step);
      case 'fail':
        return failPromotion(ctx, kind, step, failureOf(step.error));
    }
  });
}

type AnyStep =
  | { run: 'advance'; subject: Subject; operation_id: OperationId; to: Target }
  | ({ run: 'request_smoke' | 'watch_instances' } & Waiting)
  | { run: 'fail'; subject: Subject; operation_id: OperationId; error: WorkflowError };

/** Keeps the token until the last instance has ended; the sweep sees to it that it is answered. */
async function watchInstances(ctx: Context, { subject, operation_id, task_token }: Waiting) {
  await keepPromotion(subject, (promotion) => {
    if (promotion.operation_id !== operation_id || promotion.status !== 'running')
      throw refuse('promotion.not_waiting');
    return promotion.task_token === task_token
      ? undefined
      : awaitLastInstance(promotion, task_token, ctx.now());
  });
}

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
async function advancePromotion(ctx: Context, kind: Kind, step: Advance): Promise<Outcome> {
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

/** Ends a promotion that cannot continue; one that has ended or was replaced is left unchanged. */
export async function failPromotion(
  ctx: Context,
  kind: Kind,
  { subject, operation_id }: { subject: Subject; operation_id: OperationId },
  error: Failure,
  by?: Actor,
): Promise<void> {
  await commitDecision(ctx, `${kind.audited}.fail_promotion`, async () => {
    const { promotion, place } = await kind.find(subject);
    if (promotion?.operation_id !== operation_id || promotion.status !== 'running') return undefined;
    const failed = fail(promotion, error, ctx.now());
    const audited = auditPromotion(kind, promotion, failed);
    return {
      ...audited,
      after: { ...audited.after, error },
      reason: error.detail,
      actor: by ?? promotion.actor,
      place,
      writes: [savePromotion(promotion, failed)],
      events: [kind.failed(failed, error)],
    };
  });
}
