// How a promotion begins: what may be asked of a version, and what that is to become. Rules only; nothing here knows
// AWS.

import type { Actor } from '../platform/actor.ts';
import { refuse } from '../platform/errors.ts';
import type { VersionStatus } from './app.ts';
import { type Canary, CANARY_DEFAULTS } from './canary-guard.ts';
import { PROMOTED_TO, type PromoteVersion, type Promotion, type Step, type Target } from './promotion.ts';
import { arriveAt, begunAt } from './promotion-steps.ts';
import { requireUnused } from './transition.ts';
import type { Version } from './version.ts';

const AHEAD = ['draft', ...PROMOTED_TO] as const satisfies VersionStatus[];

/** Who asks, why, and under which ids it will be found. */
export interface Request {
  operationId: string;
  correlationId: string;
  actor: Actor;
  reason: string;
  now: Date;
}

const FIRST_STEP = {
  draft: 'checking',
  staged: 'beginning_canary',
  canary: 'baking',
  deprecated: 'awaiting_grace',
} as const satisfies Partial<Record<VersionStatus, Step>>;

/** The next promotion of a version, in place of the last one. */
export function planPromotion(
  last: Promotion | undefined,
  version: Version,
  asked: PromoteVersion,
  request: Request,
): Promotion {
  requireNoneRunning(last);
  requireAhead(version, asked.target);
  const canary = asked.target === 'staged' ? undefined : planCanary(last, version, asked);
  return plan(last, version, asked.target, request, { canary });
}

/** The way out of a deprecated version nobody uses. */
export function planRetirement(last: Promotion | undefined, version: Version, request: Request): Promotion {
  requireNoneRunning(last);
  if (version.status !== 'deprecated') {
    throw refuse('version.wrong_status', {
      detail: `The version is ${version.status}; only a deprecated one can be retired.`,
    });
  }
  requireUnused(version);
  const grace_until = version.retire_after ?? request.now.toISOString();
  return plan(last, version, 'retired', request, { grace_until });
}

function plan(
  last: Promotion | undefined,
  version: Version,
  target: Target,
  { operationId, correlationId, actor, reason, now }: Request,
  more: Pick<Promotion, 'canary' | 'grace_until'>,
): Promotion {
  if (actor.kind === 'anonymous') throw refuse('auth.missing');
  const step = FIRST_STEP[version.status as keyof typeof FIRST_STEP];
  const promotion: Promotion = {
    operation_id: operationId,
    app_slug: version.app_slug,
    version: version.version,
    from: version.status,
    target,
    status: 'running',
    step,
    gates: {},
    ...more,
    // A canary that goes on keeps its count.
    ...(version.status === 'canary' && { running_ids: last?.running_ids, failed_ids: last?.failed_ids }),
    actor,
    reason,
    correlation_id: correlationId,
    requested_at: now.toISOString(),
    deadline_at: '',
    revision: last?.revision ?? 0,
  };
  return arriveAt(promotion, step, now);
}

function requireNoneRunning(last: Promotion | undefined): void {
  if (last?.status !== 'running') return;
  const detail = `It was asked for at ${last.requested_at} and is on its way to ${last.target}.`;
  throw refuse('promotion.in_progress', { detail });
}

function requireAhead({ status }: Version, target: Target): void {
  const order: readonly string[] = AHEAD;
  const isOnTheWay = order.includes(status) && status !== 'active';
  if (isOnTheWay && order.indexOf(status) < order.indexOf(target)) return;
  throw refuse('version.wrong_status', {
    detail: `The version is ${status}; ${target} does not lie ahead of it.`,
  });
}

/** A canary that has begun goes on with those who have it; how it is judged may be said anew. */
function planCanary(last: Promotion | undefined, { status }: Version, asked: PromoteVersion): Canary {
  const { bake_seconds, failure_percent_max, instances_min } = asked;
  const said = definedOf({ bake_seconds, failure_percent_max, instances_min });
  if (status !== 'canary') {
    const { percent, project_ids } = asked.canary ?? {};
    const audience = definedOf({ percent, project_ids: project_ids && canonical(project_ids) });
    return { ...CANARY_DEFAULTS, ...audience, ...said };
  }
  if (asked.canary) {
    throw refuse('version.wrong_status', {
      detail: 'The canary has begun; who gets it can be chosen again after a rollback.',
    });
  }
  const canary: Canary = { ...CANARY_DEFAULTS, ...last?.canary, ...said };
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
  const { operation_id, correlation_id, app_slug, version, from, requested_at } = promotion;
  const until = promotion.grace_until ?? promotion.canary?.bake_until ?? requested_at;
  return {
    // Artifacts will be promoted by the same machine.
    kind: 'version',
    operation_id,
    correlation_id,
    app_slug,
    version,
    start_at: from,
    step: { decision: 'go_on', until },
  };
}
