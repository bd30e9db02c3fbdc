import * as v from 'valibot';
import { makeOneTimeToken } from '../platform/auth/one-time-token.ts';
import { environment } from '../platform/environment.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import { planJoinToken, withNewToken } from './enrolment.ts';
import { JoinTokenRenewed } from './node-events.ts';
import { findKnown, saveNode, savePrincipal } from './node-store.ts';
import { joinCommand, NodeWithToken, summarizeNode } from './node-view.ts';
import { JoinTtl, NodeParams, subjectOfNode, withJoinToken } from './node.ts';

export const renewJoinToken = command(
  {
    summary: 'Get a new join token; the host that joined before goes on until another joins with it',
    action: 'nodes.node.renew_join_token',
    params: NodeParams,
    body: v.strictObject({ join_ttl_seconds: JoinTtl }),
    reply: NodeWithToken,
    refusals: ['precondition.failed'],
    // A second token would end the first, which somebody may be about to use.
    idempotency: 'required',
  },
  async (ctx, { params, body }) => {
    const { node, principal } = await findKnown(params.node_id);
    const stale = requireVersion(node, ctx.ifMatch);
    const { token, tokenHash } = makeOneTimeToken();
    const joinToken = planJoinToken(tokenHash, body.join_ttl_seconds, ctx.now());
    const after = withJoinToken(node, joinToken.join_expires_at);
    return {
      subject: subjectOfNode(node),
      before: summarizeNode(node),
      after: summarizeNode(after),
      writes: [saveNode(node, after, stale), savePrincipal(principal, withNewToken(principal, joinToken))],
      events: [JoinTokenRenewed(after)],
      reply: summarizeNode(after),
      secrets: { join_token: token, join_command: joinCommand(environment('TOKEN_ISSUER'), node, token) },
    };
  },
);
