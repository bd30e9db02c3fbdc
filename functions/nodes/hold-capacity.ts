// How other domains take capacity of a node and give it back: in one transaction with what they take it for.

import * as v from 'valibot';
import { putNew, replace, requireThat, type Write } from '../platform/data/commit.ts';
import { readItems } from '../platform/data/rows.ts';
import type { NodeId } from '../platform/ids.ts';
import { Capacity, emptyCapacity } from './capacity.ts';
import { capacityKey, nodeKey } from './keys.ts';
import { Node } from './node.ts';

/** A node, and what is held of it. */
export interface Place {
  node: Node;
  capacity: Capacity;
}

/** A place is two items, and a batch has a hundred. */
export const PLACES_MAX = 49;

export const placeKeys = (id: NodeId) => [nodeKey(id), capacityKey(id)];

/** What `placeKeys` found; nothing where there is no such node. */
function placeIn(id: NodeId, [node, capacity]: (Record<string, unknown> | undefined)[]): Place | undefined {
  if (!node) return undefined;
  return {
    node: v.parse(Node, node),
    capacity: v.parse(v.optional(Capacity, emptyCapacity(id)), capacity),
  };
}

export async function findPlace(id: NodeId): Promise<Place | undefined> {
  return placeIn(id, await readItems(placeKeys(id)));
}

/** Nodes as they are now, in the order of their ids; those that are gone are left out. */
export async function findPlaces(ids: NodeId[]): Promise<Place[]> {
  const found: Place[] = [];
  for (let start = 0; start < ids.length; start += PLACES_MAX) {
    const some = ids.slice(start, start + PLACES_MAX);
    found.push(...placesIn(some, await readItems(some.flatMap(placeKeys))));
  }
  return found;
}

export function placesIn(ids: NodeId[], rows: (Record<string, unknown> | undefined)[]): Place[] {
  return ids.flatMap((id, index) => placeIn(id, rows.slice(2 * index, 2 * index + 2)) ?? []);
}

/**
 * Takes capacity: nobody has taken or freed any since it was read, and the node is as it was judged and still open. So
 * nothing is given away twice, and a cordon of the same moment wins.
 */
export function holdCapacity({ node, capacity }: Place, after: Capacity): Write[] {
  return [
    requireThat(nodeKey(node.id), {
      condition: 'version = :version AND #status = :ready AND placement = :open',
      names: { '#status': 'status' },
      values: { ':version': node.version, ':ready': 'ready', ':open': 'open' },
    }),
    saveCapacity(capacity, after),
  ];
}

/** Gives capacity back, also of a node that is cordoned, lost or gone. */
export function saveCapacity(before: Capacity, after: Capacity): Write {
  const item = { ...capacityKey(after.node_id), ...after };
  return before.version === 0 ? putNew(item) : replace(item, { version: before.version });
}

/** For who decides by how the node is and does not change it: it is still as it was read. */
export const requireUnchanged = ({ id, version }: Pick<Node, 'id' | 'version'>): Write =>
  requireThat(nodeKey(id), { condition: 'version = :version', values: { ':version': version } });
