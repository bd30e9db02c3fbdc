import * as v from 'valibot';
import { nodeOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { NodeId } from '../platform/ids.ts';
import { PageQuery } from '../platform/page.ts';
import { AssignedWorkloadPage } from './agent-api.ts';
import { viewAssigned } from './workload.ts';
import { listWorkloadsOf } from './workload-store.ts';

export const listWorkloads = query(
  {
    summary: 'List what the host was asked to hold and has given no receipt for',
    params: v.object({ node_id: NodeId }),
    query: v.strictObject(PageQuery),
    reply: AssignedWorkloadPage,
  },
  async (ctx, { query: page }) => {
    const { items, next_cursor } = await listWorkloadsOf(nodeOf(ctx).id, page);
    return { items: items.map(viewAssigned), next_cursor };
  },
);
