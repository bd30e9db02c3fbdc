import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { obtainToken } from '../../bin/token/obtain-token.ts';
import { type PlatformCopy, startCopy } from '../e2e/platform-copy.ts';
import { until } from '../until.ts';
import { listenersOf } from './listeners.ts';

// This machine stays the same host, whatever dies: its agent, or the platform and everything with it.

const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-hosts-'));
let copy: PlatformCopy;

beforeAll(async () => {
  copy = await startCopy({ dataDir, host: true });
}, 300_000);

afterAll(async () => {
  await copy.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Node {
  id: string;
  name: string;
  status: string;
  last_heartbeat?: { run_id?: string };
}

async function get<T>(path: string): Promise<T> {
  const { api_url, oidc_issuer: issuer } = copy.ready;
  const { access_token } = await obtainToken({ issuer, email: 'admin@example.com' });
  const answer = await fetch(api_url + path, { headers: { authorization: `Bearer ${access_token}` } });
  return (await answer.json()) as T;
}

const node = (): Promise<Node> => get<Node>(`/api/v1/admin/nodes/${copy.ready.demo.node_id}`);
const nodes = async (): Promise<Node[]> => (await get<{ items: Node[] }>('/api/v1/admin/nodes')).items;

const agentPid = (): number =>
  (JSON.parse(readFileSync(join(dataDir, 'agent.pid.json'), 'utf8')) as { pid: number }).pid;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('an agent opens no door', () => {
  const doors = [new URL(copy.ready.api_url).host, copy.ready.registry];
  expect(new Set(listenersOf(copy.ready.pid).map(({ address }) => address))).toEqual(new Set(doors));
});

test('an agent that is killed comes back by itself, as the same node', async () => {
  const before = await node();
  const pid = agentPid();
  process.kill(pid, 'SIGKILL');
  const after = await until(
    async () => {
      const now = await node();
      return now.last_heartbeat?.run_id !== before.last_heartbeat?.run_id && now;
    },
    'a heartbeat of the next run',
    60,
  );
  expect(after).toMatchObject({ id: before.id, status: 'ready' });
  expect(agentPid()).not.toBe(pid);
});

test('a platform that is killed takes its agent along, and has the same host and allocation when it is back', async () => {
  const { demo } = copy.ready;
  const pid = agentPid();
  await copy.kill();
  await until(async () => !isRunning(pid), 'the end of the agent', 60);
  copy = await startCopy({ dataDir, host: true });
  const { node_id, allocation_id } = copy.ready.demo;
  expect({ node_id, allocation_id }).toEqual({
    node_id: demo.node_id,
    allocation_id: demo.allocation_id,
  });
  expect(await node()).toMatchObject({ status: 'ready' });
  expect((await nodes()).filter(({ name }) => name === 'this-machine')).toHaveLength(1);
});

test('a platform that is stopped stops its agent first, and tells of no fault', async () => {
  const pid = agentPid();
  await copy.stop();
  expect(isRunning(pid)).toBe(false);
  expect(copy.output()).not.toContain('ended unexpectedly');
  copy = await startCopy({ dataDir });
  expect(copy.ready.demo.node_id).toBeUndefined();
  expect(copy.output()).toContain('none, as asked for with --no-host');
  expect((await nodes()).map(({ name }) => name)).toContain('this-machine');
});
