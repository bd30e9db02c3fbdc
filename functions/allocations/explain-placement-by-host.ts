import { query } from '../platform/http/endpoint.ts';
import { judgeHosts, NOBODY } from './judge-hosts.ts';
import { AdminExplanation, ExplainQuery, explainToAdmin } from './placement-explanation.ts';

export const explainPlacementByHost = query(
  {
    summary: 'Explain for every host whether an allocation by this SKU would be placed there, and why not',
    query: ExplainQuery,
    reply: AdminExplanation,
    refusals: ['sku.unknown', 'sku.retired'],
  },
  async (_, { query: { sku } }) => explainToAdmin(await judgeHosts(sku, { project_id: NOBODY })),
);
