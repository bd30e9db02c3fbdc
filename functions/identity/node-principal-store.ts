import * as v from 'valibot';
import { NodePrincipal } from '../platform/auth/node-principal.ts';
import { nodePrincipalKey } from '../platform/data/keys.ts';
import { readItem } from '../platform/data/table.ts';
import { lowerCased, type NodeId } from '../platform/ids.ts';

/** For whoever proves to be the node. */
export async function findNodePrincipal(id: NodeId): Promise<NodePrincipal | undefined> {
  const item = await readItem(nodePrincipalKey(lowerCased(id)));
  return item && v.parse(NodePrincipal, item);
}
