import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { SubmissionInFullView, SubmissionParams } from './submission.ts';
import { findSubmissionInFull } from './submission-store.ts';

export const getProjectSubmission = query(
  {
    summary: 'Get a submission of the project, with its manifest',
    params: SubmissionParams,
    reply: SubmissionInFullView,
  },
  async (ctx, { params }) => {
    const { submission, manifest } = await findSubmissionInFull(params.submission_id, projectOf(ctx).id);
    return { ...submission, manifest };
  },
);
