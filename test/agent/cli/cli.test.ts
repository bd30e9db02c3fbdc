// The agent as people and systemd start it: a process of its own, a platform over HTTP, a queue, and no engine.

import { createPublicKey, hash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { compactVerify, importJWK, type JWK } from 'jose';
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Enrol, Heartbeat } from '../../../functions/nodes/agent-api.ts';
import { sqs } from '../../../functions/platform/clients.ts';
import { keyFile, readNodeKey } from '../../../agent/platform/node-key.ts';
import type { Outcome } from '../../../functions/tasks/task.ts';
import { type Queues, startQueues } from '../../queues.ts';
import { until } from '../../until.ts';
import { aTask, NODE } from '../a-task.ts';
import { runAgentCommand, spawnAgent } from '../agent-process.ts';
import { problem, type SmallPlatform, startSmallPlatform } from '../small-platform.ts';

let platform: SmallPlatform;
let queues: Queues;
let queueUrl: string;
let stateDir: string;
const TOKEN = 'j'.repeat(43);

beforeAll(async () => {
  queues = await startQueues();
  queueUrl = await queues.create(`gpuaas-node-${NODE}`);
  platform = await startSmallPlatform(NODE);
  platform.on(`POST ${platform.at('/enrolment')}`, enrol);
  platform.on(`PUT ${platform.at('/inventory')}`, () => ({}));
  platform.on(`POST ${platform.at('/heartbeat')}`, () => ({ body: { heartbeat_seconds: 1 } }));
  platform.on(`POST ${platform.at('/queue-credentials')}`, () => ({
    body: {
      queue_url: queueUrl,
      region: 'us-east-1',
      access_key_id: 'a',
      secret_access_key: 'b',
      session_token: 'c',
      expires_at: new Date(Date.now() + 3600_000).toISOString(),
    },
  }));
});
afterAll(async () => {
  await platform.stop();
  await queues.stop();
});

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
  platform.asked.length = 0;
});

/** As the platform does: the proof is by the key that is brought, for this node and this token. */
async function enrol({ body }: { body: unknown }) {
  const { join_token, public_key_jwk, proof } = v.parse(Enrol, body);
  const key = await importJWK(public_key_jwk as JWK, 'ES256');
  const { payload } = await compactVerify(proof, key);
  const said = JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
  if (said['aud'] !== NODE || said['join_token_sha256'] !== hash('sha256', TOKEN) || join_token !== TOKEN)
    return problem(403, 'node.join_refused');
  platform.state.nodeKey = createPublicKey({ key: public_key_jwk, format: 'jwk' });
  return {
    body: {
      node_id: NODE,
      name: 'one',
      region: 'us-east-1',
      registry_host: 'registry.test',
      host_key: platform.hostKey,
      heartbeat_seconds: 60,
      port_range: { from: 20_000, to: 29_999 },
    },
  };
}

/** What a command printed or told, whatever it is in full. */
const containing = (text: string): string => expect.stringContaining(text) as string;

const joinWords = (token = TOKEN, node = NODE) => [
  'join',
  `--url=${platform.url}`,
  `--node=${node}`,
  `--token=${token}`,
  `--state-dir=${stateDir}`,
  `--docker-socket=${join(stateDir, 'no-docker.sock')}`,
];

const joinHost = () => runAgentCommand(joinWords());

describe('join', () => {
  test('makes a key that stays here, and writes down what the platform told', async () => {
    const { code, out } = await joinHost();
    expect({ code, out }).toEqual({ code: 0, out: containing('This host is the node one') });
    expect(statSync(stateDir).mode % 0o1000).toBe(0o700);
    expect(statSync(keyFile(stateDir)).mode % 0o1000).toBe(0o600);
    expect(JSON.parse(readFileSync(join(stateDir, 'config.json'), 'utf8'))).toMatchObject({
      url: platform.url,
      node_id: NODE,
      host_key: platform.hostKey,
    });
    expect(readFileSync(join(stateDir, 'config.json'), 'utf8')).not.toContain(TOKEN);
  });

  test('a second time changes nothing, and another node is refused', async () => {
    await joinHost();
    const before = readNodeKey(stateDir).export({ type: 'pkcs8', format: 'pem' });
    expect(await joinHost()).toMatchObject({ code: 0, out: containing('already') });
    expect(platform.askedFor(platform.at('/enrolment'))).toHaveLength(1);
    expect(readNodeKey(stateDir).export({ type: 'pkcs8', format: 'pem' })).toEqual(before);
    const other = await runAgentCommand(joinWords(TOKEN, '0190a000-0000-7000-8000-00000000000f'));
    expect(other).toMatchObject({ code: 1, err: containing('already') });
  });

  test('that the platform refuses says why, and can be tried again with the same key', async () => {
    const { code, err } = await runAgentCommand(joinWords('x'.repeat(43)));
    expect({ code, err }).toEqual({ code: 1, err: containing('node.join_refused') });
    expect(existsSync(join(stateDir, 'config.json'))).toBe(false);
    const key = readFileSync(keyFile(stateDir), 'utf8');
    expect((await joinHost()).code).toBe(0);
    expect(readFileSync(keyFile(stateDir), 'utf8')).toBe(key);
  });

  test('takes the token from a file or the environment, where others do not see it', async () => {
    const file = join(stateDir, 'token');
    writeFileSync(file, `${TOKEN}\n`);
    const without = joinWords().filter((word) => !word.startsWith('--token='));
    expect((await runAgentCommand([...without, '--token-file', file])).code).toBe(0);
    process.env['GPUAAS_JOIN_TOKEN'] = TOKEN;
    expect((await runAgentCommand([...without, '--again'])).code).toBe(0);
    delete process.env['GPUAAS_JOIN_TOKEN'];
  });

  test('names all that is wrong with its words at once', async () => {
    const words = [
      'join',
      '--url',
      'http://far.test',
      '--node',
      'x',
      '--token',
      'y',
      '--state-dir',
      stateDir,
    ];
    const { code, err } = await runAgentCommand(words);
    expect(code).toBe(2);
    for (const option of ['--url:', '--node:', '--token:']) expect(err).toContain(option);
  });
});

describe('without having joined', () => {
  test.each(['run', 'doctor', 'status'])('%s says what to do', async (command) => {
    const { code, err } = await runAgentCommand([command, '--state-dir', stateDir]);
    expect({ code, err }).toEqual({ code: 2, err: containing('gpuaas-agent join') });
  });

  test('it helps, tells its version, and refuses words it does not know', async () => {
    expect(await runAgentCommand(['--help'])).toMatchObject({ code: 0, out: containing('doctor') });
    expect(await runAgentCommand(['version', '--json'])).toMatchObject({
      code: 0,
      out: '{"version":"0.0.0"}\n',
    });
    expect((await runAgentCommand(['fly'])).code).toBe(2);
  });
});

describe('a host that has joined', () => {
  test('is heard of, answers its tasks, shows what it holds, and stops when told to', async () => {
    await joinHost();
    const outcomes = new Map<string, Outcome>();
    const told = aTask({ kind: 'oci.teleport' });
    platform.on(`POST ${platform.at(`/tasks/${told.id}/outcome`)}`, ({ body }) => {
      outcomes.set(told.id, body as Outcome);
      return {};
    });
    const agent = spawnAgent(['run', '--state-dir', stateDir]);
    const beats = () =>
      platform.askedFor(platform.at('/heartbeat')).map(({ body }) => v.parse(Heartbeat, body));
    await until(() => beats()[0]?.workloads === 0);
    await until(() =>
      beats().some(({ problems = [] }) => problems.some((each) => each.startsWith('engine:'))),
    );
    await sqs().send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(told) }));
    await until(() => outcomes.has(told.id));
    expect(outcomes.get(told.id)).toMatchObject({ status: 'refused', code: 'unknown_kind' });
    await until(() => platform.askedFor(platform.at('/inventory')).length === 1);

    const status = await runAgentCommand(['status', '--json', '--state-dir', stateDir]);
    expect(JSON.parse(status.out)).toMatchObject({
      node_id: NODE,
      running: true,
      workloads: [],
      tasks: [{ id: told.id, outcome: { code: 'unknown_kind' } }],
    });
    const second = await runAgentCommand(['run', '--state-dir', stateDir]);
    expect(second).toMatchObject({ code: 1, err: containing('Another agent') });

    agent.child.kill('SIGTERM');
    const { code, out } = await agent.ended;
    expect(code).toBe(0);
    for (const line of out.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ node_id: NODE });
    const after = await runAgentCommand(['status', '--state-dir', stateDir]);
    expect(after).toMatchObject({ code: 0, out: containing('not running') });
  });

  test('doctor names what is wrong and what to do, and ends with 1', async () => {
    await joinHost();
    const { code, out } = await runAgentCommand(['doctor', '--json', '--state-dir', stateDir]);
    expect(code).toBe(1);
    const { healthy, checks } = JSON.parse(out) as {
      healthy: boolean;
      checks: { name: string; status: string }[];
    };
    expect(healthy).toBe(false);
    const found = Object.fromEntries(checks.map(({ name, status }) => [name, status]));
    expect(found).toMatchObject({ engine: 'failed', key: 'ok', clock: 'ok', queue: 'ok' });
    const told = await runAgentCommand(['doctor', '--state-dir', stateDir]);
    expect(told.out).toMatch(/FAIL {2}engine: .*\n +→ Start it/);
  });

  test('whose key another run has used since ends for good', async () => {
    await joinHost();
    platform.on(`POST ${platform.at('/heartbeat')}`, () => problem(409, 'node.key_cloned'));
    const { code, err } = await runAgentCommand(['run', '--state-dir', stateDir]);
    platform.on(`POST ${platform.at('/heartbeat')}`, () => ({ body: { heartbeat_seconds: 1 } }));
    expect({ code, err }).toEqual({ code: 2, err: containing('copy of the key') });
  });
});
