// How a promotion begins: what may be asked of a version or an artifact, and what that is to become. Rules only;
// nothing here knows AWS.

import type { Actor } from '../platform/actor.ts';
import type { VersionStatus } from '../catalog/app.ts';
import { type Bake, BAKE_DEFAULTS, type Canary, CANARY_DEFAULTS } from './canary-guard.ts';
import type { Promotable } from './promotable.ts';
import {
  PROMOTED_TO,
  type PromoteVersion,
  type Promotion,
  type Step,
  type Subject,
  type Target,
} from './promotion.ts';
import { arriveAt, begunAt } from './promotion-steps.ts';
import { refuse } from './problems.ts';

const AHEAD = ['draft', ...PROMOTED_TO] as const satisfies VersionStatus[];

/** What is asked for; of the canary of an artifact, only how long. */
export type Asked = Omit<PromoteVersion, 'reason'>;

/** Who asks, why, and under which ids it will be found. */
export interface Request {
  operationId: string;
  correlationId: string;
  traceparent: string;
  actor: Actor;
  reason: string;
  now: Date;
}

type Standing = Pick<Promotable, 'subject' | 'status' | 'promotion' | 'retire_after'>;

/** What is the same for both, but is called or begun otherwise. */
const OF_KIND = {
  version: { wrong: 'version.wrong_status', canary: CANARY_DEFAULTS },
  artifact: { wrong: 'artifact.wrong_state', canary: BAKE_DEFAULTS },
} as const;

/** The next promotion, in place of the last one. */
export function planPromotion(at: Standing, asked: Asked, request: Request): Promotion {
  requireNoneRunning(at.promotion);
  requireAhead(at, asked.target);
  return plan(at, asked.target, request, asked.target === 'staged' ? {} : { canary: planCanary(at, asked) });
}

/** The way out for a deprecated one nobody uses. */
export function planRetirement(at: Standing, request: Request): Promotion {
  const { subject, status, promotion, retire_after } = at;
  requireNoneRunning(promotion);
  if (status !== 'deprecated') {
    throw refuse(OF_KIND[subject.kind].wrong, {
      detail: `The ${subject.kind} is ${status}; only a deprecated one can be retired.`,
    });
  }
  return plan(at, 'retired', request, { grace_until: retire_after ?? request.now.toISOString() });
}

function plan(
  { subject, status, promotion: last }: Standing,
  target: Target,
  { operationId, correlationId, traceparent, actor, reason, now }: Request,
  more: Pick<Promotion, 'canary' | 'grace_until'>,
): Promotion {
  if (actor.kind === 'anonymous') throw refuse('auth.missing');
  const step = firstStepOf(subject, status);
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

/** A version is checked where it leaves draft; an artifact is verified again wherever it stands. */
function firstStepOf({ kind }: Subject, from: VersionStatus): Step {
  if (from === 'deprecated') return 'awaiting_grace';
  if (kind === 'artifact') return 'verifying';
  return from === 'draft' ? 'checking' : nextStepFrom(from);
}

/** Past what the promotion begins with, by where it began. */
export function nextStepFrom(from: VersionStatus): Step {
  if (from === 'draft') return 'staging';
  return from === 'staged' ? 'beginning_canary' : 'baking';
}

function requireNoneRunning(last: Promotion | undefined): void {
  if (last?.status !== 'running') return;
  const detail = `It was asked for at ${last.requested_at} and is on its way to ${last.target}.`;
  throw refuse('promotion.in_progress', { detail });
}

function requireAhead({ subject, status }: Standing, target: Target): void {
  const order: readonly string[] = AHEAD;
  const isOnTheWay = order.includes(status) && status !== 'active';
  if (isOnTheWay && order.indexOf(status) < order.indexOf(target)) return;
  throw refuse(OF_KIND[subject.kind].wrong, {
    detail: `The ${subject.kind} is ${status}; ${target} does not lie ahead of it.`,
  });
}

/** A canary that has begun goes on with those who have it; how it is judged may be said anew. */
function planCanary({ subject, status, promotion: last }: Standing, asked: Asked): Canary | Bake {
  const { bake_seconds, failure_percent_max, instances_min } = asked;
  const said = definedOf({ bake_seconds, failure_percent_max, instances_min });
  const { canary: defaults, wrong } = OF_KIND[subject.kind];
  if (status !== 'canary') {
    const { percent, project_ids } = asked.canary ?? {};
    const audience = definedOf({ percent, project_ids: project_ids && canonical(project_ids) });
    return { ...defaults, ...audience, ...said };
  }
  if (asked.canary) {
    throw refuse(wrong, {
      detail: 'The canary has begun; who gets it can be chosen again after a rollback.',
    });
  }
  const canary: Canary | Bake = { ...defaults, ...last?.canary, ...said };
  return canary.began_at === undefined ? canary : begunAt(canary, new Date(canary.began_at));
}

const canonical = (ids: string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

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
export function executionInput(promotion: Promotion): Record<string, unknown> {
  const { operation_id, subject, from, requested_at } = promotion;
  const until = promotion.grace_until ?? promotion.canary?.bake_until ?? requested_at;
  return {
    subject,
    operation_id,
    start_at: firstStepOf(subject, from),
    go_on_at: nextStepFrom(from),
    step: { decision: 'go_on', until },
  };
}
