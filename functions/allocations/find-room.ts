import { findPlaces, PLACES_MAX } from '../nodes/hold-capacity.ts';
import type { Node } from '../nodes/node.ts';
import type { AllocationId, ProjectId } from '../platform/ids.ts';
import { judgeNode, type Chosen, placeAllocation, type Wanted } from './placement.ts';
import { type Asked, readRoom } from './placement-store.ts';
import { countReasons, type ReasonCount } from './placement-explanation.ts';
import { refuse } from './problems.ts';
import { requireOffered, type Sku } from './sku.ts';
import { requireOwnVolume } from './volume.ts';

/** A node with room, or the refusal that tells how many nodes have none, by reason. */
export async function findRoom(
  asked: Asked,
  ids: { allocation_id: AllocationId; project_id: ProjectId },
): Promise<Chosen & { sku: Sku }> {
  const { nodes, places, unread, ...room } = await readRoom(asked);
  const sku = requireOffered(room.sku);
  const volume = asked.volume_id === undefined ? undefined : requireOwnVolume(room.volume, ids.project_id);
  const wanted = { ...sku, ...ids, ...(volume && { node_id: volume.node_id }) };
  const known = new Map(nodes.map((node) => [node.id, node]));
  let { chosen, judged } = placeAllocation(wanted, places);
  // A large fleet: those that could take it if they were empty, some at a time.
  const more = unread.filter((id) => mayTake(wanted, known.get(id)));
  for (let start = 0; !chosen && start < more.length; start += PLACES_MAX) {
    const next = placeAllocation(wanted, await findPlaces(more.slice(start, start + PLACES_MAX)));
    chosen = next.chosen;
    judged = [...judged, ...next.judged];
  }
  if (chosen) return { ...chosen, sku };
  const seen = new Set(judged.map(({ node }) => node.id));
  const unseen = nodes.filter(({ id }) => !seen.has(id));
  throw noCapacity(
    nodes.length,
    countReasons([...judged, ...unseen.map((node) => ({ reasons: judgeNode(wanted, node) }))]),
  );
}

const mayTake = (wanted: Wanted, node: Node | undefined): boolean =>
  node !== undefined && judgeNode(wanted, node).length === 0;

/** No node is named: which there are, and who else is on them, is not for a tenant to know. */
function noCapacity(hostCount: number, counts: ReasonCount[]) {
  const told = counts.map(({ code, host_count }) => `${code} (${host_count})`).join(', ');
  return refuse('allocation.no_capacity', {
    detail:
      hostCount === 0
        ? 'There are no hosts.'
        : `None of ${hostCount} hosts has room. Reasons, with the number of hosts: ${told}.`,
  });
}
