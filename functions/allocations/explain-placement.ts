import * as v from 'valibot';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ProjectId } from '../platform/ids.ts';
import { judgeHosts } from './judge-hosts.ts';
import { explainToProject, ProjectExplainQuery, ProjectExplanation } from './placement-explanation.ts';
import { findVolume } from './volume-store.ts';

export const explainPlacement = query(
  {
    summary:
      'Explain whether an allocation by this SKU would be placed now: reasons, with the number of hosts',
    params: v.object({ project_id: ProjectId }),
    query: ProjectExplainQuery,
    reply: ProjectExplanation,
    refusals: ['sku.unknown', 'sku.retired', 'volume.unknown'],
  },
  async (ctx, { query: { sku, volume_id } }) => {
    const { id } = projectOf(ctx);
    const volume = volume_id === undefined ? undefined : await findVolume(id, volume_id);
    return explainToProject(await judgeHosts(sku, { project_id: id, node_id: volume?.node_id }));
  },
);
