import * as v from 'valibot';
import { nodeOf } from '../platform/context.ts';
import type { Change } from '../platform/data/change.ts';
import { environment } from '../platform/environment.ts';
import { command } from '../platform/http/endpoint.ts';
import { NodeId } from '../platform/ids.ts';
import { logInToRegistry } from '../storage/registry-login.ts';
import { AskPullCredentials, PullCredentials } from './agent-api.ts';
import { PullRefused } from './pull.ts';
import { readWorkloads } from './read-workloads.ts';
import { refuse } from './problems.ts';
import { findUnassigned } from './workload.ts';

const SESSION_SECONDS = 3600;

/** As ECR's guide to pulling lists it. ECR cannot limit a pull to a digest: to that the agent holds. */
const PULL = ['ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer', 'ecr:BatchCheckLayerAvailability'];

export const issuePullCredentials = command(
  {
    summary: 'Get credentials to pull from repositories that are assigned to this node, for an hour',
    action: 'nodes.pull_credentials.issue',
    params: v.object({ node_id: NodeId }),
    body: AskPullCredentials,
    reply: PullCredentials,
    refusals: ['pull.not_assigned'],
    idempotency: 'none',
  },
  async (ctx, { body }): Promise<Change> => {
    const { id } = nodeOf(ctx);
    const repositories = [...new Set(body.repositories)];
    const unassigned = findUnassigned(await readWorkloads(id), repositories);
    if (unassigned.length > 0) return refused(id, unassigned);
    const login = await logInToRegistry({
      roleArn: environment('PULLER_ROLE_ARN'),
      name: `pull-${id}`,
      seconds: SESSION_SECONDS,
      repositories,
      actions: PULL,
    });
    const expires_at = login.expiresAt.toISOString();
    return {
      subject: `node:${id}`,
      after: { repositories, expires_at },
      writes: [],
      reply: { registry_host: environment('REGISTRY_HOST'), username: login.username, expires_at },
      secrets: { password: login.password },
    };
  },
);

/** A host has no reason to ask for what it was never asked to run. */
function refused(nodeId: NodeId, repositories: string[]): Change {
  return {
    subject: `node:${nodeId}`,
    after: { refused: 'pull.not_assigned', repositories },
    writes: [],
    events: [PullRefused({ node_id: nodeId, repositories })],
    reply: {},
    refusal: refuse('pull.not_assigned'),
  };
}
