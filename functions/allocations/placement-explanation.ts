// How it is told where an allocation would go: to who runs the hosts by host, to a project by numbers alone, as other
// tenants' things do not exist for it.

import * as v from 'valibot';
import { type NodeId, textOf, VolumeId } from '../platform/ids.ts';
import type { Node } from '../nodes/node.ts';
import type { Reason } from './placement.ts';
import { SkuName } from './sku.ts';

export const ExplainQuery = v.strictObject({ sku: SkuName });
/** And of a project only there, where a volume of it is. */
export const ProjectExplainQuery = v.strictObject({ sku: SkuName, volume_id: v.optional(VolumeId) });

const ReasonView = v.object({ code: v.string(), detail: v.string() });
const ReasonCount = v.object({ code: v.string(), host_count: v.number() });
export type ReasonCount = v.InferOutput<typeof ReasonCount>;

export const ProjectExplanation = v.object({
  sku: SkuName,
  fits: v.boolean(),
  host_count: v.number(),
  fitting_host_count: v.number(),
  /** A host may have several. */
  reasons: v.array(ReasonCount),
  /** There are more hosts than were looked at. */
  is_truncated: v.boolean(),
});

export const AdminExplanation = v.object({
  sku: SkuName,
  /** Where it would go now. */
  chosen_node_id: v.nullable(textOf<NodeId>()),
  items: v.array(
    v.object({
      node_id: textOf<NodeId>(),
      name: v.string(),
      fits: v.boolean(),
      reasons: v.array(ReasonView),
    }),
  ),
  is_truncated: v.boolean(),
});

export interface Explained {
  sku: SkuName;
  /** One that no reason keeps away has room. */
  judged: { node: Node; reasons: readonly Reason[] }[];
  chosen?: { place: { node: { id: NodeId } } };
  is_truncated: boolean;
}

export const explainToProject = ({ sku, judged, is_truncated }: Explained) => {
  const fitting = judged.filter(({ reasons }) => reasons.length === 0).length;
  return {
    sku,
    fits: fitting > 0,
    host_count: judged.length,
    fitting_host_count: fitting,
    reasons: countReasons(judged),
    is_truncated,
  };
};

export const explainToAdmin = ({ sku, judged, chosen, is_truncated }: Explained) => ({
  sku,
  chosen_node_id: chosen?.place.node.id ?? null,
  items: judged.map(({ node, reasons }) => ({
    node_id: node.id,
    name: node.name,
    fits: reasons.length === 0,
    reasons: [...reasons],
  })),
  is_truncated,
});

/** The most frequent first. A host counts once for each code, however often it has it. */
export function countReasons(judged: { reasons: readonly Reason[] }[]): ReasonCount[] {
  const codes = judged.flatMap(({ reasons }) => [...new Set(reasons.map(({ code }) => code))]);
  return [...Map.groupBy(codes, (code) => code)]
    .map(([code, all]) => ({ code, host_count: all.length }))
    .toSorted((one, other) => other.host_count - one.host_count || (one.code < other.code ? -1 : 1));
}
