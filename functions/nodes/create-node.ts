import { nameActor } from '../platform/actor.ts';
import { makeOneTimeToken } from '../platform/auth/one-time-token.ts';
import { environment } from '../platform/environment.ts';
import { command } from '../platform/http/endpoint.ts';
import { planJoinToken, planPrincipal } from './enrolment.ts';
import { NodeCreated } from './node-events.ts';
import { insertNode } from './node-store.ts';
import { joinCommand, NodeWithToken, summarizeNode } from './node-view.ts';
import { CreateNode, pathOfNode, planNode, subjectOfNode } from './node.ts';

export const createNode = command(
  {
    summary: 'Create a node; the answer tells, once, how a host joins as it',
    action: 'nodes.node.create',
    body: CreateNode,
    reply: NodeWithToken,
    status: 201,
  },
  (ctx, { body }) => {
    const now = ctx.now();
    const { token, tokenHash } = makeOneTimeToken();
    const joinToken = planJoinToken(tokenHash, body.join_ttl_seconds, now);
    const created = { created_by: nameActor(ctx.actor), join_expires_at: joinToken.join_expires_at };
    const node = planNode(ctx.newId(), body, created, now);
    return {
      subject: subjectOfNode(node),
      after: summarizeNode(node),
      writes: insertNode(node, planPrincipal(node.id, joinToken)),
      events: [NodeCreated(node)],
      reply: summarizeNode(node),
      secrets: { join_token: token, join_command: joinCommand(environment('TOKEN_ISSUER'), node, token) },
      location: pathOfNode(node),
    };
  },
);
