// What a host may pull.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import { NodeId } from '../platform/ids.ts';

/** A host asked for repositories that nothing assigned to it comes from. */
export const PullRefused = event(
  'platform.node.pull_refused',
  1,
  v.object({ node_id: NodeId, repositories: v.array(v.string()) }),
);
