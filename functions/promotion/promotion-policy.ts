// What the platform asks of every promotion, where its request says nothing else.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import {
  BAKE_DEFAULTS,
  BakeSeconds,
  CANARY_DEFAULTS,
  InstancesMin,
  Percent,
  Reason,
  Smoke,
} from './promotion.ts';
import { GRACE_SECONDS_DEFAULT, GraceSeconds } from './status.ts';

/** Named as the requests name them. */
const settings = {
  smoke: Smoke,
  versions: v.object({
    canary: v.object({ percent: Percent }),
    bake_seconds: BakeSeconds,
    failure_percent_max: Percent,
    instances_min: InstancesMin,
  }),
  artifacts: v.object({ bake_seconds: BakeSeconds }),
  /** Of what is superseded or deprecated. */
  grace_seconds: GraceSeconds,
};

export const PromotionPolicy = v.object({
  ...settings,
  /** Zero until somebody sets it. */
  version: v.number(),
  updated_at: v.optional(v.string()),
  updated_by: v.optional(v.string()),
});
export type PromotionPolicy = v.InferOutput<typeof PromotionPolicy>;

const { percent, bake_seconds, failure_percent_max, instances_min } = CANARY_DEFAULTS;

/** In force until somebody sets another one. */
export const DEFAULT_POLICY: PromotionPolicy = {
  smoke: { gate: 'person' },
  versions: { canary: { percent }, bake_seconds, failure_percent_max, instances_min },
  artifacts: BAKE_DEFAULTS,
  grace_seconds: GRACE_SECONDS_DEFAULT,
  version: 0,
};

/** What is left out has its default. */
export const PutPromotionPolicy = v.strictObject({
  smoke: v.optional(Smoke, DEFAULT_POLICY.smoke),
  versions: v.optional(
    v.strictObject({
      canary: v.optional(v.strictObject({ percent: v.optional(Percent, percent) }), {}),
      bake_seconds: v.optional(BakeSeconds, bake_seconds),
      failure_percent_max: v.optional(Percent, failure_percent_max),
      instances_min: v.optional(InstancesMin, instances_min),
    }),
    {},
  ),
  artifacts: v.optional(
    v.strictObject({ bake_seconds: v.optional(BakeSeconds, BAKE_DEFAULTS.bake_seconds) }),
    {},
  ),
  grace_seconds: v.optional(GraceSeconds, GRACE_SECONDS_DEFAULT),
  reason: Reason,
});
export type PutPromotionPolicy = v.InferOutput<typeof PutPromotionPolicy>;

/** The policy as it shall be, in place of the one in force. */
export function planPromotionPolicy(
  before: PromotionPolicy,
  { smoke, versions, artifacts, grace_seconds }: PutPromotionPolicy,
  by: string,
  now: Date,
): PromotionPolicy {
  return {
    smoke,
    versions,
    artifacts,
    grace_seconds,
    version: before.version + 1,
    updated_at: now.toISOString(),
    updated_by: by,
  };
}

export const POLICY_SUBJECT = 'promotion_policy';

export const PromotionPolicyChanged = event(
  'apps.promotion.policy_changed',
  1,
  v.object({ ...settings, version: v.number() }),
);
