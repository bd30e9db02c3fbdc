import { command } from '../platform/http/endpoint.ts';
import { reviewSubmission } from './review-submission.ts';
import {
  ReviewNotes,
  sendBack,
  SubmissionChangesRequested,
  SubmissionParams,
  Submission,
} from './submission.ts';

export const requestChanges = command(
  {
    summary: 'Request changes to a submission, with notes',
    action: 'manifests.submission.request_changes',
    params: SubmissionParams,
    body: ReviewNotes,
    reply: Submission,
    refusals: ['submission.decided', 'precondition.failed'],
  },
  (ctx, { params, body }) =>
    reviewSubmission(ctx, params.submission_id, body.notes, sendBack, SubmissionChangesRequested),
);
