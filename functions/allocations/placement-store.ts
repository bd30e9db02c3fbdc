import * as v from 'valibot';
import type { Node } from '../nodes/node.ts';
import { type Place, placeKeys, PLACES_MAX, placesIn } from '../nodes/hold-capacity.ts';
import { placementFaults } from '../nodes/placeable.ts';
import { readNodes } from '../nodes/read-nodes.ts';
import { readItems } from '../platform/data/rows.ts';
import type { NodeId, VolumeId } from '../platform/ids.ts';
import { lowerCased } from '../platform/ids.ts';
import { skuKey, volumeKey } from './keys.ts';
import { Sku, type SkuName } from './sku.ts';
import { Volume } from './volume.ts';

export interface Asked {
  sku: SkuName;
  volume_id?: VolumeId;
}

export interface Room {
  sku?: Sku;
  volume?: Volume;
  /** Every node there is, by an index: a change of a moment ago may be missing. */
  nodes: Node[];
  /** Those that may take something, as they are now: as many as fit into the one read. */
  places: Place[];
  /** Those that may take something and were not read. */
  unread: NodeId[];
}

/** What a request for an allocation is decided by: one query, and one read of all the rest. */
export async function readRoom({ sku, volume_id }: Asked): Promise<Room> {
  const nodes = await readNodes();
  const usable = nodes.filter((node) => placementFaults(node).length === 0);
  // The newest first: those that came long ago are likelier to be full.
  const ids = usable.map(({ id }) => id).toReversed();
  const [read, unread] = [ids.slice(0, PLACES_MAX), ids.slice(PLACES_MAX)];
  const [skuRow, ...rows] = await readItems([
    skuKey(sku),
    ...read.flatMap(placeKeys),
    ...(volume_id === undefined ? [] : [volumeKey(lowerCased(volume_id))]),
  ]);
  const volumeRow = volume_id === undefined ? undefined : rows.at(-1);
  return {
    sku: v.parse(v.optional(Sku), skuRow),
    volume: v.parse(v.optional(Volume), volumeRow),
    nodes,
    places: placesIn(read, rows),
    unread,
  };
}
