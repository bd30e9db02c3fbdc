import * as v from 'valibot';
import { nodeOf } from '../platform/context.ts';
import type { Change } from '../platform/data/change.ts';
import { unseal } from '../platform/data/seal.ts';
import { command } from '../platform/http/endpoint.ts';
import { NodeId } from '../platform/ids.ts';
import { FetchSecret, SecretValue } from './agent-api.ts';
import { keyOf } from './plan-secret.ts';
import { judgeFetch, type KeptSecret, type SecretRefusal, SecretRefused, subjectOfSecret } from './secret.ts';
import { findSecret, saveFetched } from './secret-store.ts';
import { refuse } from './problems.ts';

export const fetchSecret = command(
  {
    summary: 'Fetch the value behind a handle, once',
    action: 'nodes.secret.fetch',
    params: v.object({ node_id: NodeId }),
    body: FetchSecret,
    reply: SecretValue,
    refusals: ['secret.unknown', 'secret.fetched', 'secret.expired'],
    idempotency: 'none',
  },
  async (ctx, { body: { handle, fetch_id } }): Promise<Change> => {
    const { id } = nodeOf(ctx);
    const secret = await findSecret(handle);
    if (!secret) throw refuse('secret.unknown');
    const verdict = judgeFetch(secret, id, fetch_id, ctx.now());
    if (verdict !== 'give') return refused(secret, id, verdict);
    return {
      subject: subjectOfSecret(secret),
      after: { node_id: id, fetch_id },
      writes: [saveFetched(handle, fetch_id, ctx.now())],
      reply: {},
      secrets: { value: unseal(secret.sealed, keyOf(handle, id)) },
    };
  },
);

const ANSWERS = {
  foreign: 'secret.unknown',
  fetched: 'secret.fetched',
  expired: 'secret.expired',
} as const satisfies Record<SecretRefusal, string>;

/** The attempt is recorded, published as an event, and raises an alarm. */
function refused(secret: KeptSecret, nodeId: NodeId, reason: SecretRefusal): Change {
  return {
    subject: subjectOfSecret(secret),
    after: { refused: reason, node_id: nodeId },
    writes: [],
    events: [SecretRefused({ node_id: nodeId, secret_id: secret.secret_id, reason })],
    reply: {},
    refusal: refuse(ANSWERS[reason]),
  };
}
