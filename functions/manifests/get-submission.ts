import { query } from '../platform/http/endpoint.ts';
import { SubmissionInFullView, SubmissionParams } from './submission.ts';
import { findSubmissionInFull } from './submission-store.ts';

export const getSubmission = query(
  {
    summary: 'Get a submission of any project, with its manifest',
    params: SubmissionParams,
    reply: SubmissionInFullView,
  },
  async (_, { params }) => {
    const { submission, manifest } = await findSubmissionInFull(params.submission_id);
    return { ...submission, manifest };
  },
);
