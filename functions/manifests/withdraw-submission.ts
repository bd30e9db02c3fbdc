import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import {
  subjectOfSubmission,
  SubmissionParams,
  Submission,
  SubmissionWithdrawn,
  withdraw,
} from './submission.ts';
import { findSubmission, saveSubmission } from './submission-store.ts';

export const withdrawSubmission = command(
  {
    summary: 'Withdraw a submission',
    action: 'manifests.submission.withdraw',
    params: SubmissionParams,
    reply: Submission,
    refusals: ['submission.decided', 'precondition.failed'],
  },
  async (ctx, { params }) => {
    const submission = await findSubmission(params.submission_id, projectOf(ctx).id);
    const stale = requireVersion(submission, ctx.ifMatch);
    const withdrawn = withdraw(submission, ctx.now());
    return {
      subject: subjectOfSubmission(submission),
      before: submission,
      after: withdrawn,
      writes: saveSubmission(submission, withdrawn, stale),
      events: [SubmissionWithdrawn(withdrawn)],
      reply: withdrawn,
    };
  },
);
