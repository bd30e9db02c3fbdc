// An update as a host sees it: the launcher, the bundled agent as a process, a platform over HTTP and a queue.

import { createPublicKey, hash, randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Heartbeat } from '../../../functions/nodes/agent-api.ts';
import { sqs } from '../../../functions/platform/clients.ts';
import type { Outcome, Payload } from '../../../functions/tasks/task.ts';
import { bundleAgent } from '../../../lib/agent-bundle.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { parseConfig } from '../../../agent/config/config.ts';
import { writeConfig } from '../../../agent/config/config-file.ts';
import { ensureNodeKey } from '../../../agent/platform/node-key.ts';
import { currentVersion, makeCurrent, writeRelease } from '../../../agent/update/releases.ts';
import { readTrial } from '../../../agent/update/trial.ts';
import { type Queues, startQueues } from '../../queues.ts';
import { until } from '../../until.ts';
import { spawnAgent } from '../agent-process.ts';
import { aTask, NODE } from '../a-task.ts';
import { type SmallPlatform, startSmallPlatform } from '../small-platform.ts';

const OLD = manifest.version;
const NEW = '99.0.0';
const bundle = Buffer.from(bundleAgent()).toString('utf8');

let platform: SmallPlatform;
let queues: Queues;
let queueUrl: string;
let stateDir: string;
let host: ReturnType<typeof spawnAgent>;

beforeAll(async () => {
  queues = await startQueues();
  platform = await startSmallPlatform(NODE);
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

beforeEach(async () => {
  // A queue of its own: a poll of an agent that has ended may still take what is meant for the next.
  queueUrl = await queues.create(`gpuaas-node-${randomUUID()}`);
  platform.asked.length = 0;
  stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
  platform.state.nodeKey = createPublicKey(ensureNodeKey(stateDir));
  const told = {
    url: platform.url,
    node_id: NODE,
    region: 'us-east-1',
    registry_host: 'registry.test',
    host_key: platform.hostKey,
    heartbeat_seconds: 1,
    port_range: { from: 20_000, to: 29_999 },
    docker_socket: join(stateDir, 'no-docker.sock'),
  };
  writeConfig(stateDir, parseConfig(told, {}));
  writeRelease(stateDir, OLD, Buffer.from(bundle));
  makeCurrent(stateDir, OLD);
  const launcher = join(stateDir, 'launcher.mjs');
  writeFileSync(launcher, bundle);
  host = spawnAgent(['launch', '--state-dir', stateDir], { file: launcher });
});
afterEach(async () => {
  host.child.kill('SIGTERM');
  expect((await host.ended).code).toBe(0);
});

/** Releases this as the new version, asks the host for it, and answers how it ended. */
async function update(text: string): Promise<Outcome> {
  const bytes = Buffer.from(text);
  const digest = `sha256:${hash('sha256', bytes)}`;
  const release = { version: NEW, digest, size_bytes: bytes.length, iat: 1 };
  platform.on('GET /api/v1/agent/bundle.mjs', () => ({ body: bytes }));
  platform.on('GET /api/v1/agent/release', async () => ({
    body: { document: await platform.signed(release, 'gpuaas-agent-release+jwt') },
  }));
  const payload: Payload<'agent.update'> = {
    version: NEW,
    digest,
    path: '/api/v1/agent/bundle.mjs',
    trial_seconds: 10,
  };
  const task = aTask({ kind: 'agent.update', subject: 'agent', payload });
  const path = platform.at(`/tasks/${task.id}/outcome`);
  platform.on(`POST ${path}`, () => ({}));
  await sqs().send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(task) }));
  return until(
    () => platform.askedFor(path)[0]?.body as Outcome | undefined,
    'the outcome of the update',
    50,
  );
}

const heardOf = (): string[] =>
  platform.askedFor(platform.at('/heartbeat')).map(({ body }) => (body as Heartbeat).agent_version);

test('a good release takes over, and tells so itself once it was heard of', async () => {
  const good = bundle.replaceAll(`"${OLD}"`, `"${NEW}"`);
  expect(await update(good)).toMatchObject({ status: 'succeeded', result: { agent_version: NEW } });
  expect(heardOf()).toContain(NEW);
  expect(currentVersion(stateDir)).toBe(NEW);
  expect(readTrial(stateDir)).toBeUndefined();
});

test('one that is never heard of is taken back, and the one before tells so', async () => {
  const mute = `process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000);`;
  expect(await update(mute)).toMatchObject({
    status: 'failed',
    code: 'update_rejected',
    detail: expect.stringContaining('no heartbeat accepted within its trial') as string,
  });
  expect(currentVersion(stateDir)).toBe(OLD);
  await until(() => heardOf().at(-1) === OLD);
});
