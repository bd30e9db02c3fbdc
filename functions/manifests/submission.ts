// A manifest that an app team hands in, and what reviewers say to it.

import * as v from 'valibot';
import { OrgId, ProjectId, SubmissionId, textOf } from '../platform/ids.ts';
import type { ScopedProject } from '../platform/scope.ts';
import { event } from '../platform/events.ts';
import { AppSlug, Time } from '../platform/name.ts';
import type { Manifest } from './manifest.ts';
import { Digest } from '../platform/name.ts';
import type { Owner } from './registration.ts';
import { ManifestView } from '../catalog/version.ts';
import { VersionNumber } from '../platform/version-number.ts';
import { refuse } from './problems.ts';

export const SUBMISSION_STATUSES = [
  'submitted',
  'changes_requested',
  'approved',
  'rejected',
  'withdrawn',
] as const;

export const SubmissionParams = v.object({ submission_id: SubmissionId });

/** Text of several lines without control characters, which terminals would interpret. */
const Notes = v.pipe(
  v.string(),
  v.regex(/^[\n -~\u00a1-\uffff]*$/, 'Text'),
  v.minLength(1),
  v.maxLength(2_000),
);

export const ApproveSubmission = v.strictObject({ notes: v.optional(Notes) });

/** Whoever has to do something about it is told what. */
export const ReviewNotes = v.strictObject({ notes: Notes });

/** Shown as it is: nothing of it is hidden from who may see it. */
export const Submission = v.object({
  id: SubmissionId,
  org_id: OrgId,
  project_id: ProjectId,
  app_slug: textOf<AppSlug>(),
  app_version: textOf<VersionNumber>(),
  manifest_digest: v.string(),
  status: v.picklist(SUBMISSION_STATUSES),
  submitted_by: v.string(),
  /** Who last put another manifest in its place. */
  revised_by: v.optional(v.string()),
  reviewed_by: v.optional(v.string()),
  reviewed_at: v.optional(Time),
  /** What the last reviewer said. */
  notes: v.optional(v.string()),
  version: v.number(),
  created_at: Time,
  updated_at: Time,
});
export type Submission = v.InferOutput<typeof Submission>;

export const SubmissionInFullView = v.object({ ...Submission.entries, manifest: ManifestView });

export const SubmissionPage = v.object({
  items: v.array(Submission),
  next_cursor: v.nullable(v.string()),
});

/** A manifest with its digest, from somebody. */
export interface HandedIn {
  manifest: Manifest;
  digest: string;
  actor: string;
}

const said = ({ manifest, digest }: HandedIn) => ({
  app_slug: manifest.app.slug,
  app_version: manifest.version.version,
  manifest_digest: digest,
});

export function planSubmission(
  id: SubmissionId,
  project: ScopedProject,
  handedIn: HandedIn,
  now: Date,
): Submission {
  if (project.status === 'archived') throw refuse('project.archived');
  const at = now.toISOString();
  return {
    id,
    org_id: project.org_id,
    project_id: project.id,
    ...said(handedIn),
    status: 'submitted',
    submitted_by: handedIn.actor,
    version: 1,
    created_at: at,
    updated_at: at,
  };
}

/** Another manifest in place of the one that was handed in; reviewers begin anew. */
export function revise(submission: Submission, handedIn: HandedIn, now: Date): Submission {
  requireUndecided(submission);
  return {
    ...submission,
    ...said(handedIn),
    status: 'submitted',
    revised_by: handedIn.actor,
    ...changed(submission, now),
  };
}

export function withdraw(submission: Submission, now: Date): Submission {
  requireUndecided(submission);
  return { ...submission, status: 'withdrawn', ...changed(submission, now) };
}

export interface Review {
  actor: string;
  notes?: string;
}

/** Four eyes: nobody approves what they wrote themselves. */
export function approve(submission: Submission, review: Review, now: Date): Submission {
  if ([submission.submitted_by, submission.revised_by].includes(review.actor)) throw refuse('submission.own');
  return decide(submission, 'approved', review, now);
}

export function reject(submission: Submission, review: Review, now: Date): Submission {
  return decide(submission, 'rejected', review, now);
}

export function sendBack(submission: Submission, review: Review, now: Date): Submission {
  return decide(submission, 'changes_requested', review, now);
}

function decide(
  submission: Submission,
  status: Submission['status'],
  { actor, notes }: Review,
  now: Date,
): Submission {
  // The first of two reviewers counts: if one rejected it, the other must not approve it without seeing that.
  if (submission.status !== 'submitted') throw decided(submission);
  return {
    ...submission,
    status,
    reviewed_by: actor,
    reviewed_at: now.toISOString(),
    notes,
    ...changed(submission, now),
  };
}

const changed = ({ version }: Submission, now: Date) => ({
  version: version + 1,
  updated_at: now.toISOString(),
});

function requireUndecided(submission: Submission): void {
  if (submission.status !== 'submitted' && submission.status !== 'changes_requested')
    throw decided(submission);
}

const STANDS = {
  submitted: 'The submission is waiting for review.',
  changes_requested: 'Changes were requested; the submission is waiting for a new manifest.',
  approved: 'The submission was approved.',
  rejected: 'The submission was rejected.',
  withdrawn: 'The submission was withdrawn.',
} as const;

const decided = ({ status }: Submission) => refuse('submission.decided', { detail: STANDS[status] });

export const placeOfSubmission = ({ org_id, project_id }: Submission): Owner => ({ org_id, project_id });

export const subjectOfSubmission = ({ id }: Submission): string => `submission:${id}`;

// Notes stay out of events: they are said to the app team, not to everybody who follows the project.
const Told = v.object({
  submission_id: SubmissionId,
  app_slug: AppSlug,
  app_version: VersionNumber,
  manifest_digest: Digest,
});

const tell = ({ id, ...submission }: Submission) => ({ submission_id: id, ...submission });

export const SubmissionSubmitted = event('apps.submission.submitted', 1, Told, tell);
export const SubmissionRevised = event('apps.submission.revised', 1, Told, tell);
export const SubmissionWithdrawn = event('apps.submission.withdrawn', 1, Told, tell);
export const SubmissionApproved = event('apps.submission.approved', 1, Told, tell);
export const SubmissionRejected = event('apps.submission.rejected', 1, Told, tell);
export const SubmissionChangesRequested = event('apps.submission.changes_requested', 1, Told, tell);
