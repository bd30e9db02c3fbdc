// A promotion as people see it: where it stands and what it waits for, in words.

import * as v from 'valibot';
import { nameActor } from '../platform/actor.ts';
import { VERSION_STATUSES, type VersionStatus } from './app.ts';
import { describeTally, tallyOf } from './canary-guard.ts';
import { Failure, Gates, type Promotion, PROMOTION_STATUSES, type Step, STEPS } from './promotion.ts';
import { pathOfVersion, type Version } from './version.ts';

const CanaryView = v.object({
  percent: v.number(),
  /** Only for who may publish. */
  project_ids: v.optional(v.array(v.string())),
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

export const PromotionView = v.object({
  operation_id: v.string(),
  app_slug: v.string(),
  version: v.string(),
  version_status: v.picklist(VERSION_STATUSES),
  from: v.picklist(VERSION_STATUSES),
  target: v.picklist(VERSION_STATUSES),
  status: v.picklist(PROMOTION_STATUSES),
  step: v.picklist(STEPS),
  /** In words; nothing once it has ended. */
  waiting_for: v.nullable(v.string()),
  gates: Gates,
  canary: v.optional(CanaryView),
  requested_by: v.string(),
  reason: v.string(),
  requested_at: v.string(),
  deadline_at: v.string(),
  ended_at: v.optional(v.string()),
  error: v.optional(Failure),
});
export type PromotionView = v.InferOutput<typeof PromotionView>;

export function viewPromotion(
  promotion: Promotion,
  version: Pick<Version, 'instance_count'> & { status: VersionStatus },
  ofPlatform: boolean,
): PromotionView {
  const { operation_id, app_slug, from, target, status, step, gates, error } = promotion;
  const { reason, requested_at, deadline_at, ended_at } = promotion;
  return {
    operation_id,
    app_slug,
    version: promotion.version,
    version_status: version.status,
    from,
    target,
    status,
    step,
    waiting_for: describeWait(promotion, version),
    gates,
    ...viewCanary(promotion, ofPlatform),
    requested_by: nameActor(promotion.actor),
    reason,
    requested_at,
    deadline_at,
    ...(ended_at && { ended_at }),
    ...(error && { error }),
  };
}

function viewCanary(promotion: Promotion, ofPlatform: boolean): Pick<PromotionView, 'canary'> {
  if (!promotion.canary) return {};
  const { project_ids, ...canary } = promotion.canary;
  return { canary: { ...canary, ...(ofPlatform && { project_ids }), ...tallyOf(promotion) } };
}

export const promotionPath = (version: Pick<Version, 'app_slug' | 'version'>): string =>
  `${pathOfVersion(version)}/promotion`;

const WORDS: Record<Exclude<Step, 'ended'>, (promotion: Promotion, instances: number) => string> = {
  checking: () => 'The manifest is being checked.',
  awaiting_smoke: (promotion) =>
    `Waits for a platform admin to answer the smoke run, until ${promotion.deadline_at}: POST ${smokePath(promotion)}`,
  smoke_answered: () => 'The smoke run was answered; the workflow goes on.',
  beginning_canary: () => 'The canary is about to begin.',
  baking: (promotion) =>
    promotion.canary
      ? `Bakes until ${promotion.canary.bake_until ?? promotion.deadline_at}; ${describeTally(promotion.canary, promotion)}.`
      : 'Is about to become active.',
  awaiting_grace: ({ grace_until, deadline_at }) =>
    `Waits for the grace period to end, at ${grace_until ?? deadline_at}.`,
  awaiting_last_instance: (_, instances) =>
    `Waits for the last instance to end; ${instances} still ${instances === 1 ? 'uses' : 'use'} the version.`,
};

function describeWait(
  promotion: Promotion,
  { instance_count }: Pick<Version, 'instance_count'>,
): string | null {
  const { status, step } = promotion;
  return status !== 'running' || step === 'ended' ? null : WORDS[step](promotion, instance_count);
}

const smokePath = (promotion: Promotion): string =>
  `${pathOfVersion(promotion).replace('/api/v1/', '/api/v1/admin/')}/smoke`;
