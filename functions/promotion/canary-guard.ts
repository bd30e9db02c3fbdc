// Judges a canary by the instances that use the version.

import * as v from 'valibot';
import { type AppInstanceId, ProjectId, textOf } from '../platform/ids.ts';

const Percent = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100));

export const BAKE_SECONDS_MAX = 7 * 24 * 3600;
export const BakeSeconds = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(BAKE_SECONDS_MAX));
export const FailurePercentMax = Percent;
export const InstancesMin = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000));
export const AskedAudience = v.strictObject({
  percent: v.optional(Percent),
  project_ids: v.optional(v.pipe(v.array(ProjectId), v.maxLength(100))),
});

/** The default canary of a version, and of an artifact. */
export const CANARY_DEFAULTS = {
  percent: 10,
  project_ids: [] as ProjectId[],
  bake_seconds: 3600,
  failure_percent_max: 20,
  instances_min: 3,
};
export const BAKE_DEFAULTS = { bake_seconds: 0 };

/** How many instances a canary is judged by; later ones are not counted. */
export const OBSERVED_MAX = 1000;

/** How long something stays in canary. That is all for an artifact: nobody launches it by itself. */
export const Bake = v.object({
  bake_seconds: v.number(),
  began_at: v.optional(v.string()),
  bake_until: v.optional(v.string()),
  ended_at: v.optional(v.string()),
});
export type Bake = v.InferOutput<typeof Bake>;

export const Canary = v.object({
  ...Bake.entries,
  percent: v.number(),
  project_ids: v.array(textOf<ProjectId>()),
  failure_percent_max: v.number(),
  /** With fewer instances than this, failures do not count. */
  instances_min: v.number(),
});
export type Canary = v.InferOutput<typeof Canary>;

/** Whether the canary has an audience and is judged by its instances. */
export const isTried = (canary: Canary | Bake | undefined): canary is Canary =>
  canary !== undefined && 'instances_min' in canary;

/** The instances that came up, and those that failed; one may do both. */
export interface Observed {
  running_ids?: Set<AppInstanceId>;
  failed_ids?: Set<AppInstanceId>;
}

export interface Tally {
  observed: number;
  failed: number;
  failure_percent: number;
}

export function tallyOf({ running_ids, failed_ids }: Observed): Tally {
  const failed = failed_ids?.size ?? 0;
  const observed = new Set([...(running_ids ?? []), ...(failed_ids ?? [])]).size;
  return { observed, failed, failure_percent: observed === 0 ? 0 : Math.round((failed * 100) / observed) };
}

/** Whether it is under way: instances count only then. */
export function isUnderWay(canary: Bake | undefined): boolean {
  return canary?.began_at !== undefined && canary.ended_at === undefined;
}

export function isFailing(canary: Canary | Bake | undefined, observed: Observed): boolean {
  if (!isTried(canary) || !isUnderWay(canary)) return false;
  const tally = tallyOf(observed);
  return (
    tally.observed >= canary.instances_min && tally.failed * 100 > canary.failure_percent_max * tally.observed
  );
}

/** “2 of 14 instances failed (14 %, the limit is 20 %)” */
export function describeTally({ failure_percent_max, instances_min }: Canary, observed: Observed): string {
  const tally = tallyOf(observed);
  if (tally.observed === 0) return 'no instance has used the version yet';
  const words = `${tally.failed} of ${tally.observed} instances failed (${tally.failure_percent} %, the limit is ${failure_percent_max} %)`;
  return tally.observed < instances_min
    ? `${words}; the limit applies from ${instances_min} instances`
    : words;
}
