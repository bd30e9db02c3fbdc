import * as v from 'valibot';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { SubmissionPage } from './submission.ts';
import { listSubmissionsOf } from './submission-store.ts';

export const listProjectSubmissions = query(
  {
    summary: 'List the submissions of a project, oldest first',
    query: v.strictObject(PageQuery),
    reply: SubmissionPage,
  },
  (ctx, { query: page }) => listSubmissionsOf(projectOf(ctx).id, page),
);
