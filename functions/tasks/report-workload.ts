import * as v from 'valibot';
import { nodeOf } from '../platform/context.ts';
import type { Change } from '../platform/data/change.ts';
import { command } from '../platform/http/endpoint.ts';
import { NodeId, WorkloadId } from '../platform/ids.ts';
import { WorkloadStatus } from './agent-api.ts';
import { refuse } from './problems.ts';
import { hearStatus, isNews, subjectOfWorkload, WorkloadChanged } from './workload.ts';
import { findWorkload, saveWorkload } from './workload-store.ts';

export const reportWorkload = command(
  {
    summary: 'Tell that the state of a workload has changed by itself',
    action: 'nodes.workload.report',
    params: v.object({ node_id: NodeId, workload_id: WorkloadId }),
    body: WorkloadStatus,
    reply: v.object({}),
    refusals: ['workload.unknown', 'workload.fenced'],
  },
  async (ctx, { params, body: said }): Promise<Change> => {
    const before = await findWorkload(nodeOf(ctx).id, params.workload_id);
    if (!before) throw refuse('workload.unknown');
    const after = hearStatus(before, said, ctx.now());
    const about = { subject: subjectOfWorkload(before.workload_id), before: { state: before.status?.state } };
    if (after === 'old') return { ...about, after: about.before, writes: [], reply: {} };
    return {
      ...about,
      after: { state: said.state, fence: said.fence },
      writes: [saveWorkload(before, after)],
      events: isNews(before, after) ? [WorkloadChanged(after, said)] : [],
      reply: {},
    };
  },
);
