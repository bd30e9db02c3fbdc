import type { Decision } from '../platform/data/change.ts';
import { ForeignRequestRefused } from '../platform/auth/foreign-request.ts';
import type { NodeId } from '../platform/ids.ts';

/**
 * A host asked for what is another's: it learns nothing, and the platform remembers that it asked. `route` as the API
 * names it, `asked` as the audit names a subject.
 */
export const foreignRequest = (nodeId: NodeId, route: string, asked: string): Omit<Decision, 'actor'> => ({
  subject: asked,
  after: { refused: 'foreign', node_id: nodeId },
  writes: [],
  events: [ForeignRequestRefused({ node_id: nodeId, route, asked })],
});
