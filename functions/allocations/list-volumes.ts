import * as v from 'valibot';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ProjectId } from '../platform/ids.ts';
import { PageQuery } from '../platform/page.ts';
import { VolumePage } from './volume.ts';
import { listProjectVolumes } from './volume-store.ts';

export const listVolumes = query(
  {
    summary: 'List the volumes of a project, oldest first',
    params: v.object({ project_id: ProjectId }),
    query: v.strictObject(PageQuery),
    reply: VolumePage,
  },
  (ctx, { query: page }) => listProjectVolumes(projectOf(ctx).id, page),
);
