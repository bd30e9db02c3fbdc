import * as v from 'valibot';
import { arnBeside, assumeRole } from '../platform/auth/assume-role.ts';
import { sqs } from '../platform/clients.ts';
import { nodeOf } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import { command } from '../platform/http/endpoint.ts';
import { NodeId } from '../platform/ids.ts';
import { QueueCredentials } from './agent-api.ts';
import { findQueueUrl } from './node-queue.ts';
import { queueNameOf } from './keys.ts';
import { refuse } from './problems.ts';

const SESSION_SECONDS = 3600;

/** A host reads its tasks, says for how long it works on one, and takes away what it has answered. It sends nothing. */
const READ = [
  'sqs:ReceiveMessage',
  'sqs:DeleteMessage',
  'sqs:ChangeMessageVisibility',
  'sqs:GetQueueAttributes',
];

export const issueQueueCredentials = command(
  {
    summary: 'Get credentials for the queue of this node, for an hour',
    action: 'nodes.queue_credentials.issue',
    params: v.object({ node_id: NodeId }),
    reply: QueueCredentials,
    refusals: ['node.not_enrolled'],
    idempotency: 'none',
  },
  async (ctx) => {
    const { id } = nodeOf(ctx);
    const [queue_url, region] = await Promise.all([findQueueUrl(id), sqs().config.region()]);
    if (queue_url === undefined) throw refuse('node.not_enrolled');
    const roleArn = environment('QUEUE_READER_ROLE_ARN');
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = await assumeRole({
      roleArn,
      name: `queue-${id}`,
      seconds: SESSION_SECONDS,
      statements: [
        { Effect: 'Allow', Action: READ, Resource: arnBeside(roleArn, 'sqs', region, queueNameOf(id)) },
      ],
    });
    const expires_at = Expiration.toISOString();
    return {
      subject: `node:${id}`,
      after: { access_key_id: AccessKeyId, expires_at },
      writes: [],
      reply: { queue_url, region, access_key_id: AccessKeyId, expires_at },
      secrets: { secret_access_key: SecretAccessKey, session_token: SessionToken },
    };
  },
);
