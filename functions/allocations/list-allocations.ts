import * as v from 'valibot';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ProjectId } from '../platform/ids.ts';
import { PageQuery } from '../platform/page.ts';
import { AllocationPage } from './allocation.ts';
import { listProjectAllocations } from './allocation-store.ts';

export const listAllocations = query(
  {
    summary: 'List the allocations of a project, oldest first, those that were released too',
    params: v.object({ project_id: ProjectId }),
    query: v.strictObject(PageQuery),
    reply: AllocationPage,
  },
  (ctx, { query: page }) => listProjectAllocations(projectOf(ctx).id, page),
);
