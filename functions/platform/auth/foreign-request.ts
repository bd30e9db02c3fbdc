import * as v from 'valibot';
import type { Actor } from '../actor.ts';
import type { Context } from '../context.ts';
import { commitDecision } from '../data/change.ts';
import { platformProblems, Refusal } from '../errors.ts';
import { event } from '../events.ts';
import { NodeId } from '../ids.ts';
import { countRefusal } from '../metrics.ts';

/** A host asked for what is another's: its key was stolen, or somebody else runs on it. */
export const ForeignRequestRefused = event(
  'platform.node.foreign_request_refused',
  1,
  v.object({
    node_id: NodeId,
    route: v.string(),
    /** As the audit names a subject: `node:<id>`, `task:<id>`. */
    asked: v.string(),
  }),
);

/** To the node that asked, the other is as unknown as one that never was; the platform remembers that it asked. */
export class ForeignRequest extends Refusal {
  readonly actor: Extract<Actor, { kind: 'node' }>;
  readonly asked: NodeId;

  constructor(actor: ForeignRequest['actor'], asked: NodeId) {
    super('node.unknown', platformProblems['node.unknown'], {});
    this.actor = actor;
    this.asked = asked;
  }
}

export async function recordForeignRequest(
  ctx: Context,
  route: string,
  { actor, asked, code }: ForeignRequest,
): Promise<void> {
  const subject = `node:${asked}`;
  await commitDecision(ctx, 'node.foreign_request.refuse', async () => ({
    actor,
    subject,
    after: { route },
    writes: [],
    events: [ForeignRequestRefused({ node_id: actor.id, route, asked: subject })],
  }));
  countRefusal(ctx.log, code);
}
