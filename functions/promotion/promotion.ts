// The way of a version or an artifact from one status to another: asked for once, carried out by a workflow. What is
// kept of it, and what is told.

import * as v from 'valibot';
import {
  type AppInstanceId,
  type CorrelationId,
  type OperationId,
  ProjectId,
  textOf,
  type UserId,
} from '../platform/ids.ts';
import { Description } from '../platform/name.ts';
import { STATUSES } from './status.ts';

/** What is promoted: of which kind, under which id of that kind; the kind may add names of its own. */
export const Subject = v.looseObject({ kind: v.string(), id: v.string() });
export type Subject = { kind: string; id: string };

export const Percent = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100));

export const BAKE_SECONDS_MAX = 7 * 24 * 3600;
export const BakeSeconds = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(BAKE_SECONDS_MAX));
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

/**
 * Who decides on the smoke run of a version: a person reports it, or the gate passes by itself and nothing is run. Hosts
 * cannot run it yet.
 */
export const Smoke = v.strictObject({ gate: v.picklist(['automatic', 'person']) });

/** Where it can be promoted to, in order. */
export const PROMOTED_TO = ['staged', 'canary', 'active'] as const;
export const TARGETS = [...PROMOTED_TO, 'retired'] as const;
export type Target = (typeof TARGETS)[number];

export const PROMOTION_STATUSES = ['running', 'succeeded', 'failed', 'rolled_back'] as const;

/** In the order they are passed; each path leaves some of them out. */
export const STEPS = [
  'checking',
  'awaiting_smoke',
  'smoke_answered',
  'verifying',
  'staging',
  'beginning_canary',
  'baking',
  'awaiting_grace',
  'awaiting_last_instance',
  'ended',
] as const;
export type Step = (typeof STEPS)[number];

export const Reason = v.pipe(Description, v.minLength(1));
export const Notes = v.pipe(v.string(), v.regex(/^[\n -~\u00a1-\uffff]*$/, 'Text'), v.maxLength(2000));

/** Where the audit needs a reason and the caller may leave it out. */
export const MaybeReason = v.optional(Reason, 'No reason was given.');

export const Verdict = v.picklist(['passed', 'failed']);

const GateProblem = v.object({ pointer: v.string(), detail: v.string(), hint: v.optional(v.string()) });
export type GateProblem = v.InferOutput<typeof GateProblem>;

export const Failure = v.object({ code: v.string(), detail: v.string() });
export type Failure = v.InferOutput<typeof Failure>;

/** Lint and smoke of a version, verification of an artifact. */
export const Gates = v.object({
  lint: v.optional(v.object({ verdict: Verdict, at: v.string(), problems: v.array(GateProblem) })),
  smoke: v.optional(
    v.object({
      verdict: Verdict,
      at: v.string(),
      by: v.string(),
      notes: v.string(),
    }),
  ),
  verification: v.optional(
    v.object({ verdict: v.picklist(['verified', 'refused']), at: v.string(), fault: v.optional(Failure) }),
  ),
});

const Requester = v.variant('kind', [
  v.object({ kind: v.literal('user'), id: textOf<UserId>(), email: v.optional(v.string()) }),
  v.object({ kind: v.picklist(['service_account', 'platform_team', 'platform']), id: v.string() }),
]);

export const Promotion = v.object({
  operation_id: textOf<OperationId>(),
  subject: Subject,
  from: v.picklist(STATUSES),
  target: v.picklist(TARGETS),
  status: v.picklist(PROMOTION_STATUSES),
  step: v.picklist(STEPS),
  gates: Gates,
  /** From the policy in force when it was requested, if it passes this gate. A person reports it if nothing is said. */
  smoke: v.optional(Smoke),
  canary: v.optional(v.union([Canary, Bake])),
  /** The instances of the canary that came up, and those that failed. */
  running_ids: v.optional(v.set(textOf<AppInstanceId>())),
  failed_ids: v.optional(v.set(textOf<AppInstanceId>())),
  /** The grace period of the version that it supersedes, from the same policy. */
  grace_seconds: v.optional(v.number()),
  /** Until when a deprecated one is kept. */
  grace_until: v.optional(v.string()),
  /** Answers the step that waits. It never leaves the table. */
  task_token: v.optional(v.string()),
  actor: Requester,
  reason: v.string(),
  correlation_id: textOf<CorrelationId>(),
  /** The trace of whoever asked for it, which all of its steps continue. */
  traceparent: v.optional(v.string()),
  requested_at: v.string(),
  started_at: v.optional(v.string()),
  /** When the step it is at counts as lost. */
  deadline_at: v.string(),
  ended_at: v.optional(v.string()),
  error: v.optional(Failure),
  /** Counts the changes of this row, except for the instances counted. */
  revision: v.number(),
});
export type Promotion = v.InferOutput<typeof Promotion>;

/** What audit and events say of every promotion; who the canary is for, only the platform knows. */
export const PromotionData = v.pick(Promotion, ['operation_id', 'from', 'target', 'status', 'step']);

export function dataOf(promotion: Promotion): v.InferOutput<typeof PromotionData> {
  const { operation_id, from, target, status, step } = promotion;
  return { operation_id, from, target, status, step };
}

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
