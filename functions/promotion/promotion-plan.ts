// How a promotion begins: which promotions may be requested, and how they are planned.

import type { Actor } from '../platform/actor.ts';
import { type CorrelationId, lowerCased, type OperationId, type ProjectId } from '../platform/ids.ts';
import type { Kind, Promotable, Terms } from './kind.ts';
import { refuse } from './problems.ts';
import { arriveAt, begunAt } from './promotion-steps.ts';
import type { PromotionPolicy } from './promotion-policy.ts';
import { type Bake, type Canary, PROMOTED_TO, type Promotion, type Step, type Target } from './promotion.ts';
import type { Status } from './status.ts';

const AHEAD = ['draft', ...PROMOTED_TO] as const satisfies Status[];

/** What the caller requests; a canary without an audience has only a duration. */
export interface Asked {
  target: (typeof PROMOTED_TO)[number];
  canary?: { percent?: number; project_ids?: ProjectId[] };
  bake_seconds?: number;
  failure_percent_max?: number;
  instances_min?: number;
}

/** Who asks, why, and under which ids it will be found. */
export interface Asker {
  operationId: OperationId;
  correlationId: CorrelationId;
  traceparent: string;
  actor: Actor;
  reason: string;
  now: Date;
}

type Planned = Pick<Promotable, 'kind' | 'subject' | 'status' | 'promotion' | 'retire_after'>;

/** The next promotion, in place of the last one. */
export function planPromotion(at: Planned, asked: Asked, policy: PromotionPolicy, asker: Asker): Promotion {
  const { kind, status, promotion } = at;
  requireNoneRunning(promotion);
  requireAhead(at, asked.target);
  const { canary, ...terms } = kind.termsOf(policy, status, asked.target);
  return plan(at, asked.target, asker, {
    ...terms,
    ...(canary && { canary: planCanary(at, asked, canary) }),
  });
}

/** The retirement of a deprecated version or artifact. */
export function planRetirement(at: Planned, asker: Asker): Promotion {
  const { kind, status, promotion, retire_after } = at;
  requireNoneRunning(promotion);
  if (status !== 'deprecated') {
    throw kind.wrongStatus(`The ${kind.name} is ${status}; only a deprecated ${kind.name} can be retired.`);
  }
  return plan(at, 'retired', asker, { grace_until: retire_after ?? asker.now.toISOString() });
}

function plan(
  { kind, subject, status, promotion: last }: Planned,
  target: Target,
  { operationId, correlationId, traceparent, actor, reason, now }: Asker,
  more: Terms & Pick<Promotion, 'grace_until'>,
): Promotion {
  if (actor.kind === 'anonymous') throw refuse('auth.missing');
  if (actor.kind === 'node') throw refuse('permission.denied');
  const step = firstStepOf(kind, status);
  const promotion: Promotion = {
    operation_id: operationId,
    subject,
    from: status,
    target,
    status: 'running',
    step,
    gates: {},
    ...more,
    // A canary that goes on keeps its count.
    ...(status === 'canary' && { running_ids: last?.running_ids, failed_ids: last?.failed_ids }),
    actor,
    reason,
    correlation_id: correlationId,
    traceparent,
    requested_at: now.toISOString(),
    deadline_at: '',
    revision: last?.revision ?? 0,
  };
  return arriveAt(promotion, step, now);
}

function firstStepOf(kind: Kind, from: Status): Step {
  if (from === 'deprecated') return 'awaiting_grace';
  return kind.isGated(from) ? kind.gate : nextStepFrom(from);
}

/** The first step after the gates, by the status the promotion began with. */
export function nextStepFrom(from: Status): Step {
  if (from === 'draft') return 'staging';
  return from === 'staged' ? 'beginning_canary' : 'baking';
}

function requireNoneRunning(last: Promotion | undefined): void {
  if (last?.status !== 'running') return;
  const detail = `The promotion to ${last.target} was requested at ${last.requested_at}.`;
  throw refuse('promotion.in_progress', { detail });
}

function requireAhead({ kind, status }: Planned, target: Target): void {
  const order: readonly string[] = AHEAD;
  const isOnTheWay = order.includes(status) && status !== 'active';
  if (isOnTheWay && order.indexOf(status) < order.indexOf(target)) return;
  throw kind.wrongStatus(`The ${kind.name} is ${status} and cannot be promoted to ${target}.`);
}

/** A canary that has begun keeps its audience; how it is judged may be changed. */
function planCanary(
  { kind, status, promotion: last }: Planned,
  asked: Asked,
  usual: Canary | Bake,
): Canary | Bake {
  const { bake_seconds, failure_percent_max, instances_min } = asked;
  const said = definedOf({ bake_seconds, failure_percent_max, instances_min });
  if (status !== 'canary') {
    const { percent, project_ids } = asked.canary ?? {};
    const audience = definedOf({ percent, project_ids: project_ids && canonical(project_ids) });
    return { ...usual, ...audience, ...said };
  }
  if (asked.canary) {
    throw kind.wrongStatus('The canary has begun. Roll it back to change its audience.');
  }
  const canary: Canary | Bake = { ...usual, ...last?.canary, ...said };
  return canary.began_at === undefined ? canary : begunAt(canary, new Date(canary.began_at));
}

const canonical = (ids: ProjectId[]): ProjectId[] => [...new Set(ids.map(lowerCased))];

function definedOf<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The status the promotion's next transition leads to. */
export function firstRankOf({ from, target }: Promotion): Exclude<Target, 'retired'> | undefined {
  if (target === 'retired') return undefined;
  return PROMOTED_TO[AHEAD.indexOf(from as (typeof AHEAD)[number])];
}

/** Everything the workflow is told. Ids only: each step reads again what it decides on. */
export function executionInput(kind: Kind, promotion: Promotion): Record<string, unknown> {
  const { operation_id, subject, from, requested_at } = promotion;
  const until = promotion.grace_until ?? promotion.canary?.bake_until ?? requested_at;
  const first = firstStepOf(kind, from);
  return {
    subject,
    operation_id,
    start_at: first === kind.gate ? 'gate' : first,
    go_on_at: kind.afterGate(promotion),
    step: { decision: 'go_on', until },
  };
}
