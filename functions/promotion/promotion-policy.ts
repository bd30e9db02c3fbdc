// What the platform asks of every promotion, where its request says nothing else.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import {
  BAKE_DEFAULTS,
  BakeSeconds,
  CANARY_DEFAULTS,
  FailurePercentMax,
  InstancesMin,
  Percent,
  Reason,
  Smoke,
} from './promotion.ts';
import { GRACE_SECONDS_DEFAULT, GraceSeconds } from './status.ts';

const { percent, bake_seconds, failure_percent_max, instances_min } = CANARY_DEFAULTS;

/** Named as the requests name them. What is left out has the platform's default. */
const said = {
  smoke: v.optional(Smoke, () => ({ gate: 'person' as const })),
  versions: v.optional(
    v.strictObject({
      canary: v.optional(v.strictObject({ percent: v.optional(Percent, percent) }), () => ({})),
      bake_seconds: v.optional(BakeSeconds, bake_seconds),
      failure_percent_max: v.optional(FailurePercentMax, failure_percent_max),
      instances_min: v.optional(InstancesMin, instances_min),
    }),
    () => ({}),
  ),
  artifacts: v.optional(
    v.strictObject({ bake_seconds: v.optional(BakeSeconds, BAKE_DEFAULTS.bake_seconds) }),
    () => ({}),
  ),
  /** Of what is superseded or deprecated. */
  grace_seconds: v.optional(GraceSeconds, GRACE_SECONDS_DEFAULT),
};

export const PutPromotionPolicy = v.strictObject({ ...said, reason: Reason });
export type PutPromotionPolicy = v.InferOutput<typeof PutPromotionPolicy>;

export const PromotionPolicy = v.object({
  ...said,
  /** Zero until somebody sets it. */
  version: v.number(),
  updated_at: v.optional(v.string()),
  updated_by: v.optional(v.string()),
});
export type PromotionPolicy = v.InferOutput<typeof PromotionPolicy>;

/** In force until somebody sets another one. */
export const DEFAULT_POLICY: PromotionPolicy = v.parse(PromotionPolicy, { version: 0 });

type Settings = Pick<PromotionPolicy, keyof typeof said>;

const settingsOf = ({ smoke, versions, artifacts, grace_seconds }: Settings): Settings => ({
  smoke,
  versions,
  artifacts,
  grace_seconds,
});

/** The policy as it shall be, in place of the one in force. */
export function planPromotionPolicy(
  before: PromotionPolicy,
  wanted: PutPromotionPolicy,
  by: string,
  now: Date,
): PromotionPolicy {
  return {
    ...settingsOf(wanted),
    version: before.version + 1,
    updated_at: now.toISOString(),
    updated_by: by,
  };
}

export const POLICY_SUBJECT = 'promotion_policy';

export const PromotionPolicyChanged = event(
  'apps.promotion.policy_changed',
  1,
  v.object({ ...said, version: v.number() }),
  (policy: PromotionPolicy) => ({ ...settingsOf(policy), version: policy.version }),
);
