import { findPlaces } from '../nodes/hold-capacity.ts';
import { readNodes } from '../nodes/read-nodes.ts';
import type { NodeId, ProjectId } from '../platform/ids.ts';
import { placeAllocation } from './placement.ts';
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
  const [sku, nodes] = await Promise.all([findSku(name).then(requireOffered), readNodes()]);
  const places = await findPlaces(nodes.slice(0, HOSTS_MAX).map(({ id }) => id));
  const placed = placeAllocation({ ...sku, ...by, allocation_id: NOBODY }, places);
  return { sku: sku.sku, ...placed, is_truncated: nodes.length > HOSTS_MAX };
}
