import { nameActor } from '../platform/actor.ts';
import type { Change } from '../platform/data/change.ts';
import type { Context } from '../platform/context.ts';
import type { DomainEvent } from '../platform/events.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import type { SubmissionId } from '../platform/ids.ts';
import { placeOfSubmission, type Review, type Submission, subjectOfSubmission } from './submission.ts';
import { findSubmission, saveSubmission } from './submission-store.ts';

/** What every decision does that registers nothing. */
export async function reviewSubmission(
  ctx: Context,
  id: SubmissionId,
  notes: string,
  decide: (submission: Submission, review: Review, now: Date) => Submission,
  told: (submission: Submission) => DomainEvent,
): Promise<Change> {
  const submission = await findSubmission(id);
  const stale = requireVersion(submission, ctx.ifMatch);
  const decided = decide(submission, { actor: nameActor(ctx.actor), notes }, ctx.now());
  return {
    subject: subjectOfSubmission(submission),
    before: submission,
    after: decided,
    reason: notes,
    place: placeOfSubmission(submission),
    writes: saveSubmission(submission, decided, stale),
    events: [told(decided)],
    reply: decided,
  };
}
