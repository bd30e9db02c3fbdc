import { command } from '../platform/http/endpoint.ts';
import { reviewSubmission } from './review-submission.ts';
import { reject, ReviewNotes, SubmissionParams, SubmissionRejected, Submission } from './submission.ts';

export const rejectSubmission = command(
  {
    summary: 'Reject a submission, with notes',
    action: 'manifests.submission.reject',
    params: SubmissionParams,
    body: ReviewNotes,
    reply: Submission,
    refusals: ['submission.decided', 'precondition.failed'],
  },
  (ctx, { params, body }) =>
    reviewSubmission(ctx, params.submission_id, body.notes, reject, SubmissionRejected),
);
