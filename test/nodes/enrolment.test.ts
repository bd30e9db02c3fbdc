import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeJoin } from '../../functions/nodes/enrolment.ts';
import { dynamo, sqs } from '../../functions/platform/clients.ts';
import { nodeKeyHolderKey, nodePrincipalKey } from '../../functions/platform/data/keys.ts';
import { newId } from '../../functions/platform/ids.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { type Answer, anyAddress, openWorld, signAssertion, type World } from '../api/world.ts';
import { enrolmentOf, type HostKeys, newHost } from './enrolments.ts';
import { heartbeatOf } from './recipes.ts';

let world: World;
let scene: Scene;
let admin: string;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  admin = (await scene.platformAdmin()).token;
});

afterAll(() => world.close());

interface Created {
  id: string;
  join_token: string;
  join_command: string;
}

async function create(more: object = {}): Promise<Created> {
  const { body } = await world.call('POST /api/v1/admin/nodes', {
    body: { name: 'A host', ...more },
    token: admin,
    headers: { 'x-idempotency-key': newId() },
  });
  return body as Created;
}

async function renew(id: string): Promise<Created> {
  const { body } = await world.call('POST /api/v1/admin/nodes/{node_id}/join-token', {
    params: { node_id: id },
    body: {},
    token: admin,
    headers: { 'x-idempotency-key': newId() },
  });
  return body as Created;
}

const join = async (
  id: string,
  token: string,
  host: HostKeys,
  claims: Record<string, unknown> = {},
): Promise<Answer> =>
  world.call('POST /api/v1/nodes/{node_id}/enrolment', {
    params: { node_id: id },
    body: await enrolmentOf(id, token, host, claims),
    sourceIp: anyAddress(),
  });

const codeOf = ({ body }: Answer): unknown => (body as { code?: string }).code;

const tokenFor = async (id: string, host: HostKeys) =>
  world.call('POST /api/v1/auth/node/token', {
    body: { assertion: await signAssertion({ id, key_id: id, ...host }) },
    sourceIp: anyAddress(),
  });

const beat = (id: string, token: string) =>
  world.call('POST /api/v1/nodes/{node_id}/heartbeat', {
    params: { node_id: id },
    body: heartbeatOf(),
    token,
  });

const accessToken = ({ body }: Answer): string => (body as { access_token: string }).access_token;

const auditsOf = async (id: string, action: string) =>
  (await world.items('AUDIT#')).filter((row) => row['subject'] === `node:${id}` && row['action'] === action);

const eventsOf = async (id: string, type: string) =>
  (await world.items('OUTBOX#')).filter(({ event }) => {
    const { type: said, data } = event as { type: string; data: { node_id: string } };
    return said === type && data.node_id === id;
  });

describe('a host', () => {
  test('joins by the token it was created with, and is heard of from then on', async () => {
    const node = await create();
    expect(node.join_command).toBe(
      `curl -fsSL https://api.example.test/api/v1/agent/bootstrap.sh | sudo GPUAAS_JOIN_TOKEN=${node.join_token} sh -s -- --node ${node.id}`,
    );
    const host = newHost();
    const answer = await join(node.id, node.join_token, host);
    expect(answer.body).toMatchObject({
      node_id: node.id,
      name: 'A host',
      region: 'us-east-1',
      registry_host: process.env['REGISTRY_HOST'],
      heartbeat_seconds: 60,
      port_range: { from: 20_000, to: 29_999 },
      host_key: { kty: 'EC', crv: 'P-256' },
    });
    const { body } = await world.call('GET /api/v1/admin/nodes/{node_id}', {
      params: { node_id: node.id },
      token: admin,
    });
    expect(body).toMatchObject({ status: 'ready', accelerator: 'cpu', placement_faults: [] });
    expect(body).not.toHaveProperty('join_expires_at');
    expect(await eventsOf(node.id, 'platform.node.enrolled')).toHaveLength(1);
    expect((await beat(node.id, accessToken(await tokenFor(node.id, host)))).status).toBe(200);
  });

  test('gets a queue of its own', async () => {
    const node = await create();
    await join(node.id, node.join_token, newHost());
    const { queue_url } = (await world.get({ pk: `NODE#${node.id}`, sk: 'NODE' })) as { queue_url: string };
    expect(queue_url).toMatch(new RegExp(`/gpuaas-node-${node.id}$`));
    const { Attributes } = await sqs().send(
      new GetQueueAttributesCommand({ QueueUrl: queue_url, AttributeNames: ['All'] }),
    );
    expect(Attributes).toMatchObject({ VisibilityTimeout: '120', MessageRetentionPeriod: '345600' });
  });

  test('that lost the answer asks again with the same key and gets the same, without a second effect', async () => {
    const node = await create();
    const host = newHost();
    const first = await join(node.id, node.join_token, host);
    const second = await join(node.id, node.join_token, host);
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(await eventsOf(node.id, 'platform.node.enrolled')).toHaveLength(1);
  });

  test('that joins at the same moment with two keys is one host', async () => {
    const node = await create();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => join(node.id, node.join_token, newHost())),
    );
    expect(answers.map(({ status }) => String(status)).sort()).toEqual(['200', '409', '409', '409', '409']);
    expect(await eventsOf(node.id, 'platform.node.enrolled')).toHaveLength(1);
  });
});

describe('a join token', () => {
  test('that somebody uses again with another key is refused, recorded and published', async () => {
    const node = await create();
    await join(node.id, node.join_token, newHost());
    const again = await join(node.id, node.join_token, newHost());
    expect([again.status, codeOf(again)]).toEqual([409, 'join_token.used']);
    expect(await auditsOf(node.id, 'nodes.node.enrol')).toMatchObject([
      {},
      { actor: 'anonymous', after: { refused: 'join_token.used' } },
    ]);
    expect(await eventsOf(node.id, 'platform.node.join_refused')).toMatchObject([
      { event: { data: { code: 'join_token.used' } } },
    ]);
  });

  test('that has expired is refused and recorded', async () => {
    const node = await create();
    await world.set(nodePrincipalKey(node.id), 'join_expires_at', '2026-01-01T00:00:00.000Z');
    expect(codeOf(await join(node.id, node.join_token, newHost()))).toBe('join_token.expired');
    expect(await eventsOf(node.id, 'platform.node.join_refused')).toHaveLength(1);
    expect(await world.get(nodePrincipalKey(node.id))).toMatchObject({ status: 'pending' });
  });

  test.each<[string, (node: Created) => Promise<[id: string, token: string]>]>([
    ['that nobody gave out', async ({ id }) => [id, 'x'.repeat(43)]],
    ['of another node', async ({ id }) => [id, (await create()).join_token]],
    ['of a node that never was', async ({ join_token }) => [newId(), join_token]],
    [
      'that was replaced',
      async ({ id, join_token }) => {
        await renew(id);
        return [id, join_token];
      },
    ],
    [
      'of a node that was removed',
      async ({ id, join_token }) => {
        await world.call('DELETE /api/v1/admin/nodes/{node_id}', { params: { node_id: id }, token: admin });
        return [id, join_token];
      },
    ],
  ])('%s is refused by one word, and nobody can fill the audit with it', async (_, make) => {
    const node = await create();
    const [id, token] = await make(node);
    const answer = await join(id, token, newHost());
    expect([answer.status, codeOf(answer)]).toEqual([401, 'join_token.invalid']);
    expect(await auditsOf(id, 'nodes.node.enrol')).toEqual([]);
  });

  test('is kept as a hash alone', async () => {
    const node = await create();
    await join(node.id, node.join_token, newHost());
    expect(JSON.stringify(await world.items(''))).not.toContain(node.join_token);
  });
});

describe('a key', () => {
  test.each<[string, (node: Created) => Record<string, unknown>]>([
    ['another node', () => ({ aud: newId() })],
    ['another token', () => ({ join_token_sha256: 'f'.repeat(64) })],
    ['another time', () => ({ iat: Math.floor(Date.now() / 1000) - 600 })],
    ['a time to come', () => ({ iat: Math.floor(Date.now() / 1000) + 600 })],
  ])('whose proof is for %s is refused, and the token stays good', async (_, claims) => {
    const node = await create();
    const host = newHost();
    const wrong = await join(node.id, node.join_token, host, claims(node));
    expect([wrong.status, codeOf(wrong)]).toEqual([401, 'node.proof_invalid']);
    expect((await join(node.id, node.join_token, host)).status).toBe(200);
  });

  test('that somebody else holds cannot be brought', async () => {
    const node = await create();
    const [own, other] = [newHost(), newHost()];
    const stolen = { ...own, public_jwk: other.public_jwk };
    expect(codeOf(await join(node.id, node.join_token, stolen))).toBe('node.proof_invalid');
  });

  test('that is one node’s is refused for another, recorded and published', async () => {
    const [first, second] = [await create(), await create()];
    const host = newHost();
    await join(first.id, first.join_token, host);
    const answer = await join(second.id, second.join_token, host);
    expect([answer.status, codeOf(answer)]).toEqual([409, 'node.key_taken']);
    expect(await eventsOf(second.id, 'platform.node.join_refused')).toHaveLength(1);
    expect((await tokenFor(second.id, host)).status).toBe(401);
  });

  test('of two nodes that join with it at the same moment is one’s', async () => {
    const [first, second] = [await create(), await create()];
    const host = newHost();
    let meanwhile: Promise<Answer> | undefined;
    dynamo().middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          // The second joins between what the first has read and what it writes.
          if (commandName === 'TransactWriteItemsCommand' && !meanwhile) {
            meanwhile = join(second.id, second.join_token, host);
            await meanwhile;
          }
          return next(args);
        },
      { step: 'initialize', name: 'joinMeanwhile' },
    );
    const answer = await join(first.id, first.join_token, host);
    dynamo().middlewareStack.remove('joinMeanwhile');
    expect(await meanwhile).toMatchObject({ status: 200 });
    expect([answer.status, codeOf(answer)]).toEqual([409, 'node.key_taken']);
    expect(await eventsOf(first.id, 'platform.node.join_refused')).toHaveLength(1);
  });

  test('stops working when a new host has joined as the node, and so do its tokens', async () => {
    const node = await create();
    const [old, replacement] = [newHost(), newHost()];
    await join(node.id, node.join_token, old);
    const token = accessToken(await tokenFor(node.id, old));
    const { join_token } = await renew(node.id);
    expect((await beat(node.id, token)).status).toBe(200);
    expect((await join(node.id, join_token, replacement)).status).toBe(200);
    world.forgetAuthorization();
    expect(codeOf(await beat(node.id, token))).toBe('auth.revoked');
    expect((await tokenFor(node.id, old)).status).toBe(401);
    expect((await beat(node.id, accessToken(await tokenFor(node.id, replacement)))).status).toBe(200);
  });

  test('that a new host has replaced is nobody’s, and the same key may join again by a new token', async () => {
    const node = await create();
    const host = newHost();
    await join(node.id, node.join_token, host);
    const again = await renew(node.id);
    expect((await join(node.id, again.join_token, host)).status).toBe(200);
    const last = await renew(node.id);
    await join(node.id, last.join_token, newHost());
    const other = await create();
    expect((await join(other.id, other.join_token, host)).status).toBe(200);
  });
});

describe('a join', () => {
  const now = new Date('2026-01-01T00:00:00.000Z');
  const later = '2026-01-01T00:10:00.000Z';
  const principal = {
    id: 'n1',
    status: 'pending' as const,
    join_token_hash: '',
    join_expires_at: later,
    version: 1,
  };

  test.each<[string, Partial<typeof principal & { joined_by: string }>, string | undefined, string]>([
    ['is let in', {}, undefined, 'join'],
    ['with a key of its own is let in', {}, 'n1', 'join'],
    ['with a key of another node is not', {}, 'n2', 'node.key_taken'],
    ['after another with the same key is told the same', { joined_by: 'key' }, 'n1', 'joined_before'],
    ['after another with another key is not', { joined_by: 'other' }, undefined, 'join_token.used'],
    ['too late is not', { join_expires_at: now.toISOString() }, undefined, 'join_token.expired'],
    [
      'too late, after the same, is told the same',
      { join_expires_at: now.toISOString(), joined_by: 'key' },
      'n1',
      'joined_before',
    ],
  ])('%s', (_, more, holder, verdict) => {
    expect(judgeJoin({ ...principal, ...more }, 'key', holder, now)).toBe(verdict);
  });
});

test('the rows of keys tell whose they are', async () => {
  const node = await scene.node();
  const { thumbprint } = (await world.get(nodePrincipalKey(node.id))) as { thumbprint: string };
  expect(await world.get(nodeKeyHolderKey(thumbprint))).toMatchObject({ node_id: node.id });
});
