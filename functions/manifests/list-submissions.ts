import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { SubmissionPage } from './submission.ts';
import { listWaitingSubmissions } from './submission-store.ts';

export const listSubmissions = query(
  {
    summary: 'List the submissions that are waiting for review, oldest first',
    query: v.strictObject(PageQuery),
    reply: SubmissionPage,
  },
  (_, { query: page }) => listWaitingSubmissions(page),
);
