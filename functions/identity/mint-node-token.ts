import { NODE_TOKEN_PATH } from '../platform/auth/node-principal.ts';
import { command } from '../platform/http/endpoint.ts';
import { nodeClaimant } from './claimant.ts';
import { issueToken } from './issue-token.ts';
import { findNodePrincipal } from './node-principal-store.ts';
import { proveByAssertion } from './prove-claimant.ts';
import { NODE_TTL_SECONDS, NodeTokenRequest, TokenReply } from './token.ts';
import { refuse } from './problems.ts';

export const mintNodeToken = command(
  {
    summary: 'Get a token for a node, by an assertion its agent signed',
    action: 'identity.node_token.issue',
    body: NodeTokenRequest,
    reply: TokenReply,
    refusals: ['auth.assertion_refused'],
    idempotency: 'none',
    form: true,
  },
  async (ctx, { body }) => {
    const proof = await proveByAssertion(body.assertion, [NODE_TOKEN_PATH], findClaimant, ctx.now());
    if (!proof) throw refuse('auth.assertion_refused');
    return issueToken(ctx, proof, NODE_TTL_SECONDS);
  },
);

async function findClaimant(id: string) {
  const principal = await findNodePrincipal(id);
  return principal && nodeClaimant(principal);
}
