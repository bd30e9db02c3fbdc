// What other domains may read of hosts.

import * as v from 'valibot';
import { queryAll, readItems } from '../platform/data/rows.ts';
import type { NodeId } from '../platform/ids.ts';
import { nodeKey, NODES_PARTITION } from './keys.ts';
import { Node } from './node.ts';

/** One region's fleet; beyond this, nodes need an index by shape. */
const NODES_MAX = 5_000;

/** Every node that was not removed, oldest first. From an index: a change of a moment ago may be missing. */
export async function readNodes(): Promise<Node[]> {
  const { items } = await queryAll({
    index: 'gsi1',
    condition: 'gsi1pk = :nodes',
    values: { ':nodes': NODES_PARTITION },
    max: NODES_MAX,
  });
  return items.map((item) => v.parse(Node, item));
}

export async function findNode(id: NodeId): Promise<Node | undefined> {
  const [item] = await readItems([nodeKey(id)]);
  return item && v.parse(Node, item);
}
