// The way of a version or an artifact from one status to another: asked for once, carried out by a workflow. What is
// kept of it, and what is told.

import * as v from 'valibot';
import {
  type AppInstanceId,
  type CorrelationId,
  type OperationId,
  textOf,
  type UserId,
} from '../platform/ids.ts';
import { Description } from '../platform/name.ts';
import { Bake, Canary } from './canary-guard.ts';
import { STATUSES } from './status.ts';

/** What is promoted: of which kind, under which id of that kind; the kind may add names of its own. */
export const Subject = v.looseObject({ kind: v.string(), id: v.string() });
export type Subject = { kind: string; id: string };

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
  canary: v.optional(v.union([Canary, Bake])),
  /** The instances of the canary that came up, and those that failed. */
  running_ids: v.optional(v.set(textOf<AppInstanceId>())),
  failed_ids: v.optional(v.set(textOf<AppInstanceId>())),
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
