// The way of a version or an artifact from one status to another: asked for once, carried out by a workflow. What is
// kept of it, and what is told. Rules only; nothing here knows AWS.

import * as v from 'valibot';
import { type DomainEvent, event } from '../platform/events.ts';
import { Description, Id, Slug } from '../platform/name.ts';
import { VERSION_STATUSES } from '../catalog/app.ts';
import { AskedAudience, Bake, BakeSeconds, Canary, FailurePercentMax, InstancesMin } from './canary-guard.ts';
import { VersionNumber } from '../platform/version-number.ts';

/** What is promoted. */
export const Subject = v.variant('kind', [
  v.object({ kind: v.literal('version'), app_slug: v.string(), version: v.string() }),
  v.object({ kind: v.literal('artifact'), artifact_id: v.string() }),
]);
export type Subject = v.InferOutput<typeof Subject>;

/** Where it can be promoted to, in order. */
export const PROMOTED_TO = ['staged', 'canary', 'active'] as const;
const TARGETS = [...PROMOTED_TO, 'retired'] as const;
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

const asked = {
  canary: v.optional(AskedAudience),
  bake_seconds: v.optional(BakeSeconds),
  failure_percent_max: v.optional(FailurePercentMax),
  instances_min: v.optional(InstancesMin),
  reason: Reason,
};

/** Where the audit needs a reason and the caller may leave it out. */
export const MaybeReason = v.optional(Reason, 'No reason was given.');

export const PublishVersion = v.strictObject({ ...asked, reason: MaybeReason });
export const PromoteVersion = v.strictObject({ target: v.picklist(PROMOTED_TO), ...asked });
export type PromoteVersion = v.InferOutput<typeof PromoteVersion>;

const Verdict = v.picklist(['passed', 'failed']);

export const AnswerSmoke = v.strictObject({
  verdict: Verdict,
  notes: v.optional(Notes),
});
export type AnswerSmoke = v.InferOutput<typeof AnswerSmoke>;

const Problem = v.object({ pointer: v.string(), detail: v.string(), hint: v.optional(v.string()) });
export type Problem = v.InferOutput<typeof Problem>;

export const Failure = v.object({ code: v.string(), detail: v.string() });
export type Failure = v.InferOutput<typeof Failure>;

/** Lint and smoke of a version, verification of an artifact. */
export const Gates = v.object({
  lint: v.optional(v.object({ verdict: Verdict, at: v.string(), problems: v.array(Problem) })),
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
  v.object({ kind: v.literal('user'), id: v.string(), email: v.optional(v.string()) }),
  v.object({ kind: v.picklist(['service_account', 'platform_team', 'platform']), id: v.string() }),
]);

export const Promotion = v.object({
  operation_id: v.string(),
  subject: Subject,
  from: v.picklist(VERSION_STATUSES),
  target: v.picklist(TARGETS),
  status: v.picklist(PROMOTION_STATUSES),
  step: v.picklist(STEPS),
  gates: Gates,
  canary: v.optional(v.union([Canary, Bake])),
  /** The instances of the canary that came up, and those that failed. */
  running_ids: v.optional(v.set(v.string())),
  failed_ids: v.optional(v.set(v.string())),
  /** Until when a deprecated one is kept. */
  grace_until: v.optional(v.string()),
  /** Answers the step that waits. It never leaves the table. */
  task_token: v.optional(v.string()),
  actor: Requester,
  reason: v.string(),
  correlation_id: v.string(),
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

/** What the workflow tells each of its steps: what it is about, and for which operation it acts. */
export const PromotionStep = v.object({ subject: Subject, operation_id: v.string() });
export const VersionStep = v.object({ subject: Subject.options[0], operation_id: v.string() });
export const ArtifactStep = v.object({ subject: Subject.options[1], operation_id: v.string() });

/** As the audit names it. */
export const subjectOfPromotion = ({ operation_id }: Promotion): string => `promotion:${operation_id}`;

const DOMAINS = { version: 'catalog', artifact: 'artifacts' } as const;

/** As the audit names what is done to it. */
export const actionOf = ({ kind }: Subject, verb: string): string => `${DOMAINS[kind]}.${kind}.${verb}`;

const Told = v.pick(Promotion, ['operation_id', 'from', 'target', 'status', 'step']);
const VersionTold = v.object({ ...Told.entries, app_slug: Slug, app_version: VersionNumber });
const ArtifactTold = v.object({ ...Told.entries, artifact_id: Id });
type VersionTold = v.InferOutput<typeof VersionTold>;
type ArtifactTold = v.InferOutput<typeof ArtifactTold>;

/** What the audit and the events tell of a promotion; who the canary is for, only the platform knows. */
export function aboutPromotion(promotion: Promotion): VersionTold | ArtifactTold {
  const { operation_id, subject, from, target, status, step } = promotion;
  const told = { operation_id, from, target, status, step };
  return subject.kind === 'version'
    ? { ...told, app_slug: subject.app_slug, app_version: subject.version }
    : { ...told, artifact_id: subject.artifact_id };
}

/** Only a version has a smoke run. */
const aboutVersion = (promotion: Promotion) => aboutPromotion(promotion) as VersionTold;

export const VersionPromotionRequested = event('apps.version.promotion_requested', 1, VersionTold);
export const ArtifactPromotionRequested = event('apps.artifact.promotion_requested', 1, ArtifactTold);

export function PromotionRequested(promotion: Promotion): DomainEvent {
  const told = aboutPromotion(promotion);
  return 'artifact_id' in told ? ArtifactPromotionRequested(told) : VersionPromotionRequested(told);
}

export const SmokeRequested = event('apps.version.smoke_requested', 1, VersionTold, aboutVersion);

export const SmokeAnswered = event(
  'apps.version.smoke_answered',
  1,
  v.object({ ...VersionTold.entries, verdict: Verdict }),
  (promotion: Promotion, { verdict }: AnswerSmoke) => ({ ...aboutVersion(promotion), verdict }),
);

export const VersionPromotionFailed = event(
  'apps.version.promotion_failed',
  1,
  v.object({ ...VersionTold.entries, error: Failure }),
);
export const ArtifactPromotionFailed = event(
  'apps.artifact.promotion_failed',
  1,
  v.object({ ...ArtifactTold.entries, error: Failure }),
);

export function PromotionFailed(promotion: Promotion, error: Failure): DomainEvent {
  const told = aboutPromotion(promotion);
  return 'artifact_id' in told
    ? ArtifactPromotionFailed({ ...told, error })
    : VersionPromotionFailed({ ...told, error });
}
