// A promotion as people see it: where it stands and what it waits for, in words.

import * as v from 'valibot';
import { nameActor } from '../platform/actor.ts';
import { type OperationId, type ProjectId, textOf } from '../platform/ids.ts';
import type { Promotable } from './kind.ts';
import {
  describeTally,
  Failure,
  Gates,
  isTried,
  type Promotion,
  PROMOTION_STATUSES,
  type Step,
  STEPS,
  tallyOf,
} from './promotion.ts';
import { STATUSES } from './status.ts';

export const CanaryView = v.object({
  percent: v.number(),
  /** Only for who may publish. */
  project_ids: v.optional(v.array(textOf<ProjectId>())),
  bake_seconds: v.number(),
  failure_percent_max: v.number(),
  instances_min: v.number(),
  began_at: v.optional(v.string()),
  bake_until: v.optional(v.string()),
  ended_at: v.optional(v.string()),
  /** How many instances came up or failed, and how many of them failed. */
  observed: v.number(),
  failed: v.number(),
  failure_percent: v.number(),
});

/** What is shown of every promotion, beside what was promoted and its status now. */
export const PromotionView = {
  operation_id: textOf<OperationId>(),
  from: v.picklist(STATUSES),
  target: v.picklist(STATUSES),
  status: v.picklist(PROMOTION_STATUSES),
  step: v.picklist(STEPS),
  /** In words; nothing once it has ended. */
  waiting_for: v.nullable(v.string()),
  gates: Gates,
  requested_by: v.string(),
  reason: v.string(),
  requested_at: v.string(),
  deadline_at: v.string(),
  ended_at: v.optional(v.string()),
  error: v.optional(Failure),
};

export function viewPromotion(
  promotion: Promotion,
  at: Pick<Promotable, 'kind' | 'status' | 'instance_count' | 'path'>,
  ofPlatform: boolean,
) {
  const { operation_id, subject, from, target, status, step, gates, error } = promotion;
  const { smoke, grace_seconds, reason, requested_at, deadline_at, ended_at } = promotion;
  return {
    operation_id,
    ...at.kind.view(subject, at.status),
    from,
    target,
    status,
    step,
    waiting_for: describeWait(promotion, at),
    gates,
    ...(smoke && { smoke }),
    ...(grace_seconds !== undefined && { grace_seconds }),
    ...viewCanary(promotion, ofPlatform),
    requested_by: nameActor(promotion.actor),
    reason,
    requested_at,
    deadline_at,
    ...(ended_at && { ended_at }),
    ...(error && { error }),
  };
}

function viewCanary(promotion: Promotion, ofPlatform: boolean) {
  const { canary } = promotion;
  if (!isTried(canary)) return canary && { canary };
  const { project_ids, ...shown } = canary;
  return { canary: { ...shown, ...(ofPlatform && { project_ids }), ...tallyOf(promotion) } };
}

type Waiting = Pick<Promotable, 'instance_count' | 'path'>;

const WORDS: Record<Exclude<Step, 'ended'>, (promotion: Promotion, at: Waiting) => string> = {
  checking: () => 'The manifest is being checked.',
  awaiting_smoke: ({ deadline_at }, { path }) =>
    `Waiting for a platform admin to report the smoke run, until ${deadline_at}: POST ${path.replace('/api/v1/', '/api/v1/admin/')}/smoke`,
  smoke_answered: () => 'The smoke run was reported; the workflow continues.',
  verifying: () => 'The signature and the provenance are being verified.',
  staging: () => 'All gates passed; staging is about to begin.',
  beginning_canary: () => 'The canary is about to begin.',
  baking: (promotion) => {
    const { canary, deadline_at } = promotion;
    const tally = isTried(canary) ? `; ${describeTally(canary, promotion)}` : '';
    return `In canary until ${canary?.bake_until ?? deadline_at}${tally}.`;
  },
  awaiting_grace: ({ grace_until, deadline_at }) =>
    `Waiting for the grace period to end at ${grace_until ?? deadline_at}.`,
  awaiting_last_instance: ({ subject }, { instance_count: count }) =>
    `Waiting for the last instance to end; ${count} still ${count === 1 ? 'uses' : 'use'} the ${subject.kind}.`,
};

function describeWait(promotion: Promotion, at: Waiting): string | null {
  const { status, step } = promotion;
  return status !== 'running' || step === 'ended' ? null : WORDS[step](promotion, at);
}
