// How a promotion goes on, step by step, and how it ends. Every step may be asked for twice and is taken once.

import { nameActor } from '../platform/actor.ts';
import { secondsAfter } from '../platform/clock.ts';
import type { OperationId } from '../platform/ids.ts';
import { causeOf, type WorkflowError } from '../platform/workflow/workflow-error.ts';
import type { Promotable } from './kind.ts';
import { refuse } from './problems.ts';
import {
  type Bake,
  type Canary,
  type Failure,
  type GateProblem,
  isUnderWay,
  type Promotion,
  type Step,
  STEPS,
  type Target,
} from './promotion.ts';

/** How long the workflow waits for people and for instances: its definition says the same. */
export const SMOKE_SECONDS_MAX = 14 * 24 * 3600;
export const LAST_INSTANCE_SECONDS_MAX = 7 * 24 * 3600;
/** A step that exceeds its time by this much has failed. */
const SLACK_SECONDS = 3600;

export const begunAt = (canary: Canary | Bake, began: Date): Canary | Bake => ({
  ...canary,
  began_at: began.toISOString(),
  bake_until: secondsAfter(began, canary.bake_seconds).toISOString(),
});

/** The promotion at a new step, with the deadline of the step. */
export function arriveAt(promotion: Promotion, step: Step, now: Date): Promotion {
  const ends: Partial<Record<Step, Date>> = {
    awaiting_smoke: secondsAfter(now, SMOKE_SECONDS_MAX),
    baking: latest(now, promotion.canary?.bake_until),
    awaiting_grace: latest(now, promotion.grace_until),
    awaiting_last_instance: secondsAfter(now, LAST_INSTANCE_SECONDS_MAX),
  };
  const deadline = secondsAfter(ends[step] ?? now, SLACK_SECONDS);
  return { ...promotion, step, deadline_at: deadline.toISOString() };
}

function latest(now: Date, until: string | undefined): Date {
  const then = new Date(until ?? now);
  return then > now ? then : now;
}

export function start(promotion: Promotion, now: Date): Promotion {
  return { ...promotion, started_at: now.toISOString() };
}

const PROBLEMS_KEPT_MAX = 100;

/**
 * What the check of the manifest found; all of it, for whoever has to mend it. Where the smoke gate is automatic, it
 * passes in the same write, and nothing is left to wait for.
 */
export function recordLint(promotion: Promotion, problems: GateProblem[], now: Date): Promotion {
  const verdict = problems.length === 0 ? 'passed' : 'failed';
  const lint = { verdict, at: now.toISOString(), problems: problems.slice(0, PROBLEMS_KEPT_MAX) } as const;
  const checked = { ...promotion, gates: { ...promotion.gates, lint } };
  return verdict === 'passed' && promotion.smoke?.gate === 'automatic' ? passSmoke(checked, now) : checked;
}

function passSmoke(promotion: Promotion, now: Date): Promotion {
  const smoke = { verdict: 'passed', at: now.toISOString(), by: POLICY, notes: NOT_RUN } as const;
  return { ...arriveAt(promotion, 'staging', now), gates: { ...promotion.gates, smoke } };
}

const POLICY = nameActor({ kind: 'platform', id: 'promotion-policy' });
const NOT_RUN = 'No smoke command was run: the promotion policy lets this gate pass by itself.';

/** The token is kept in the same write that says the promotion waits: no verdict can come before it. */
export function awaitSmoke(promotion: Promotion, taskToken: string, now: Date): Promotion {
  // If the verdict is already there, only the token is new: the sweep answers it.
  if (promotion.step === 'smoke_answered') return { ...promotion, task_token: taskToken };
  return { ...arriveAt(promotion, 'awaiting_smoke', now), task_token: taskToken };
}

export function recordSmoke(
  promotion: Promotion | undefined,
  { verdict, notes = '' }: { verdict: 'passed' | 'failed'; notes?: string },
  by: string,
  now: Date,
): Promotion {
  if (promotion?.status !== 'running' || promotion.step !== 'awaiting_smoke')
    throw refuse('promotion.not_waiting', {
      detail: promotion ? `The promotion is ${promotion.status} at step “${promotion.step}”.` : undefined,
    });
  const smoke = { verdict, at: now.toISOString(), by, notes };
  return { ...arriveAt(promotion, 'smoke_answered', now), gates: { ...promotion.gates, smoke } };
}

/** Stores the verification of an artifact; if it is trusted, the promotion continues. */
export function recordVerification(
  promotion: Promotion,
  { verdict, fault }: { verdict: 'verified' | 'refused'; fault?: Failure },
  next: Step,
  now: Date,
): Promotion {
  const verification = { verdict, at: now.toISOString(), ...(fault && { fault }) };
  const recorded = { ...promotion, gates: { ...promotion.gates, verification } };
  return verdict === 'verified' ? arriveAt(recorded, next, now) : recorded;
}

export function awaitLastInstance(promotion: Promotion, taskToken: string, now: Date): Promotion {
  return { ...arriveAt(promotion, 'awaiting_last_instance', now), task_token: taskToken };
}

function beginCanary(promotion: Promotion, now: Date): Promotion {
  const { canary } = promotion;
  if (!canary) throw new Error('The promotion has no canary.');
  return {
    ...promotion,
    canary: begunAt({ ...canary, ended_at: undefined }, now),
    running_ids: undefined,
    failed_ids: undefined,
  };
}

/** After a transition: at the next step, or at the end where that was the target. */
export function advance(promotion: Promotion, to: Target, now: Date): Promotion {
  const moved = to === 'canary' ? beginCanary(promotion, now) : promotion;
  const closed = to === 'active' ? closeCanary(moved, now) : moved;
  if (to === promotion.target) return end(closed, 'succeeded', now);
  return arriveAt({ ...closed, task_token: undefined }, to === 'staged' ? 'beginning_canary' : 'baking', now);
}

/** Ends the promotion after a rollback to staged; `error` is the reason if the platform decided it. */
export function rollBack(promotion: Promotion, now: Date, error?: Failure): Promotion {
  return { ...end(closeCanary(promotion, now), 'rolled_back', now), error };
}

/** The version or artifact keeps its status. */
export function fail(promotion: Promotion, error: Failure, now: Date): Promotion {
  return { ...end(promotion, 'failed', now), error };
}

const end = (promotion: Promotion, status: Promotion['status'], now: Date): Promotion => ({
  ...promotion,
  status,
  step: 'ended',
  task_token: undefined,
  ended_at: now.toISOString(),
});

function closeCanary(promotion: Promotion, now: Date): Promotion {
  const { canary } = promotion;
  return canary && isUnderWay(canary)
    ? { ...promotion, canary: { ...canary, ended_at: now.toISOString() } }
    : promotion;
}

export interface Outcome {
  decision: 'go_on' | 'reached' | 'rolled_back' | 'too_early' | 'in_use' | 'over';
  /** When to come again, where that is known. */
  until: string;
}

/** The steps from which each transition is made. */
const MADE_FROM: Record<Target, readonly Step[]> = {
  staged: ['smoke_answered', 'staging'],
  canary: ['beginning_canary'],
  active: ['baking'],
  retired: ['awaiting_grace', 'awaiting_last_instance'],
};

/**
 * The outcome of a transition that was already made, or undefined if it is still to be made. A step of an ended
 * operation learns here that nothing is left to do.
 */
export function outcomeOf(
  promotion: Promotion | undefined,
  operationId: OperationId,
  to: Target,
): Outcome | undefined {
  if (!promotion || promotion.operation_id !== operationId) return { decision: 'over', until: NO_TIME };
  const until = promotion.canary?.bake_until ?? NO_TIME;
  if (promotion.status === 'succeeded') return { decision: 'reached', until };
  if (promotion.status === 'rolled_back')
    return { decision: promotion.error ? 'rolled_back' : 'over', until };
  if (promotion.status === 'failed') return { decision: 'over', until };
  if (MADE_FROM[to].includes(promotion.step)) return undefined;
  if (STEPS.indexOf(promotion.step) > STEPS.indexOf(MADE_FROM[to].at(-1) as Step))
    return { decision: 'go_on', until };
  throw refuse('promotion.not_waiting', { detail: `The promotion is still at step “${promotion.step}”.` });
}

const NO_TIME = new Date(0).toISOString();

/** Why a transition has to wait, if it does. */
export function delayOf(
  {
    promotion,
    retire_after,
    instance_count,
  }: Pick<Promotable, 'promotion' | 'retire_after' | 'instance_count'>,
  to: Target,
  now: Date,
): Outcome | undefined {
  const until = to === 'retired' ? retire_after : promotion?.canary?.bake_until;
  if ((to === 'active' || to === 'retired') && until !== undefined && now < new Date(until))
    return { decision: 'too_early', until };
  if (to === 'retired' && instance_count > 0) return { decision: 'in_use', until: NO_TIME };
  return undefined;
}

/** How long the event may take to start the workflow. */
const START_SECONDS_MAX = 60;

export const SMOKE_FAILED = 'promotion.smoke_failed';

/** The error the workflow caught, as callers may see it: internal details go only to the log. */
export function failureOf(error: WorkflowError): Failure {
  const code = error.Error;
  if (code.endsWith('Timeout'))
    return { code: 'promotion.timed_out', detail: 'The promotion timed out while it was waiting.' };
  if (REFUSAL.test(code)) return { code, detail: causeOf(error).slice(0, DETAIL_CHARACTERS_MAX) };
  return {
    code: 'internal',
    detail: 'A step failed on our side; the log has the details under the correlation id.',
  };
}

/** The form of every refusal code; internal errors have other names. */
const REFUSAL = /^(?:[a-z_]+\.[a-z_]+|unavailable)$/;

const DETAIL_CHARACTERS_MAX = 1_000;

export const STALLED: Failure = {
  code: 'promotion.stalled',
  detail: 'The workflow did not continue the promotion before its deadline.',
};

export type Repair = 'wait' | 'start' | 'answer' | 'fail';

/** How the sweep repairs a promotion. */
export function repairOf(promotion: Promotion, at: Pick<Promotable, 'instance_count'>, now: Date): Repair {
  if (promotion.status !== 'running') return 'wait';
  if (now > new Date(promotion.deadline_at)) return 'fail';
  if (promotion.started_at === undefined)
    return now > secondsAfter(new Date(promotion.requested_at), START_SECONDS_MAX) ? 'start' : 'wait';
  return isAnswerable(promotion, at) ? 'answer' : 'wait';
}

/** Whether the workflow can be answered now. */
export function isAnswerable(
  { step, task_token }: Promotion,
  { instance_count }: Pick<Promotable, 'instance_count'>,
): boolean {
  if (task_token === undefined) return false;
  return step === 'smoke_answered' || (step === 'awaiting_last_instance' && instance_count === 0);
}
