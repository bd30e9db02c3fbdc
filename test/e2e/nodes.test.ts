import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, inject, test } from 'vitest';
import { heartbeatOf } from '../nodes/recipes.ts';
import { until } from '../until.ts';
import { createNode, joinNode, tokenOfNode } from './joined-node.ts';
import { call, done } from './people.ts';
import { readCredentials } from './signed-fetch.ts';
import { findShownSecrets } from './planted-secrets.ts';

const ready = inject('platform');

const beat = (id: string, token: string) =>
  call<{ code?: string }>('POST', `/api/v1/nodes/${id}/heartbeat`, { token, body: heartbeatOf() });

describe('a host', () => {
  test('joins, is heard of, and is gone with its queue when it is removed', async () => {
    const { id, host, token } = await joinNode('e2e');
    expect(await beat(id, token)).toMatchObject({ status: 200, body: { heartbeat_seconds: 60 } });
    const shown = await done<{ status: string; last_heartbeat: { sequence: number } }>(
      'GET',
      `/api/v1/admin/nodes/${id}`,
      { as: 'admin' },
    );
    expect(shown).toMatchObject({ status: 'ready', last_heartbeat: { sequence: 1 } });
    expect(await queueOf(id)).toMatch(new RegExp(`gpuaas-node-${id}$`));

    await done('DELETE', `/api/v1/admin/nodes/${id}`, { as: 'admin' });
    await until(async () => (await beat(id, token)).body.code === 'auth.revoked', 'its token to end');
    expect((await tokenOfNode(id, host)).status).toBe(401);
    await until(async () => (await queueOf(id)) === undefined, 'its queue to be gone');
  });

  test('reaches no other, and what it tried is in the audit log', async () => {
    const [one, other] = [await joinNode('e2e-one'), await createNode('e2e-other')];
    expect(await beat(other.id, one.token)).toMatchObject({ status: 404, body: { code: 'node.unknown' } });
    const { items } = await done<{ items: object[] }>(
      'GET',
      `/api/v1/admin/audit?actor=node:${one.id}&action=node.foreign_request.refuse`,
      { as: 'admin' },
    );
    expect(items).toMatchObject([{ subject: `node:${other.id}` }]);
  });

  test('leaves no secret anywhere', async () => {
    expect(await findShownSecrets()).toEqual([]);
  });
});

async function queueOf(id: string): Promise<string | undefined> {
  const client = new SQSClient({
    endpoint: ready.aws_endpoint,
    region: ready.region,
    credentials: readCredentials(ready),
  });
  try {
    return (await client.send(new GetQueueUrlCommand({ QueueName: `gpuaas-node-${id}` }))).QueueUrl;
  } catch (error) {
    if (error instanceof Error && /NonExistent|DoesNotExist/.test(error.name)) return undefined;
    throw error;
  }
}
