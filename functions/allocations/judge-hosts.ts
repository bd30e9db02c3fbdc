import { findPlaces } from '../nodes/hold-capacity.ts';
import { readNodes } from '../nodes/read-nodes.ts';
import type { NodeId, ProjectId } from '../platform/ids.ts';
import { judgeNode, placeAllocation } from './placement.ts';
import type { Explained } from './placement-explanation.ts';
import { requireOffered, type SkuName } from './sku.ts';
import { findSku } from './sku-store.ts';

/** As many as can be told and read; a fleet beyond that is not searched by reading. */
const HOSTS_MAX = 490;
/** Nobody's: what an allocation would be called does not decide where it goes. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** What a request by this SKU would find now, of every host. */
export async function judgeHosts(
  name: SkuName,
  by: { project_id: ProjectId; node_id?: NodeId },
): Promise<Explained> {
  const [sku, all] = await Promise.all([findSku(name).then(requireOffered), readNodes()]);
  const nodes = all.slice(0, HOSTS_MAX);
  const wanted = { ...sku, ...by, allocation_id: NOBODY };
  // Only where the node itself would do does it matter what is held of it.
  const known = nodes.map((node) => ({ node, reasons: judgeNode(wanted, node) }));
  const fitting = known.filter(({ reasons }) => reasons.length === 0).map(({ node }) => node.id);
  const { chosen, judged } = placeAllocation(wanted, await findPlaces(fitting));
  const read = new Map(judged.map((each) => [each.node.id, each]));
  return {
    sku: sku.sku,
    judged: known.map((each) => read.get(each.node.id) ?? each),
    ...(chosen && { chosen }),
    is_truncated: all.length > HOSTS_MAX,
  };
}
