import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { until } from '../until.ts';
import { call, done } from './people.ts';
import { plant } from './planted-secrets.ts';

// This machine, a host of the platform under test: nothing here knows how the platform is made.

const ready = inject('platform');
const { node_id, allocation_id, sku, org_id, project_id, app_slug } = ready.demo;
const NODE = `/api/v1/admin/nodes/${node_id}`;
const TASK_SECONDS_MAX = 60;

interface Node {
  status: string;
  placement: string;
  placement_faults: unknown[];
  inventory: { vcpu: number };
  last_heartbeat: { at: string; run_id?: string; agent_version?: string };
  capacity: { allocations: number };
}

interface Task {
  id: string;
  status: string;
  code?: string;
  detail?: string;
  result?: {
    containers?: { state: string; ports: { container: number; host: number }[] }[];
    receipt?: { removed: { containers: string[]; networks: string[] }; remaining: string[] };
    receipt_signature?: string;
  };
}

interface Artifact {
  artifact_name: string;
  repository: string;
  digest: string;
}

const ask = (kind: string, payload: object): Promise<Task> =>
  done<Task>('POST', `${NODE}/tasks`, { as: 'admin', body: { kind, payload } });

/** What it brought back in the end. */
async function perform(kind: string, payload: object): Promise<Task> {
  const { id } = await ask(kind, payload);
  return until(
    async () => {
      const task = await done<Task>('GET', `${NODE}/tasks/${id}`, { as: 'admin' });
      return !['requested', 'running'].includes(task.status) && task;
    },
    `the outcome of ${kind}`,
    TASK_SECONDS_MAX,
  );
}

/** What the container engine of the platform answers. */
function askEngine<T>(path: string): Promise<T> {
  const socketPath = new URL(ready.docker_host ?? '').pathname;
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(JSON.parse(text) as T));
    });
    asked.on('error', reject);
    asked.end();
  });
}

const filtered = (path: string, workloadId: string): string =>
  `${path}?filters=${encodeURIComponent(JSON.stringify({ label: [`gpuaas.workload=${workloadId}`] }))}`;

async function imageOfDemo(): Promise<Artifact> {
  const path = `/api/v1/projects/${project_id}/app-artifacts?app_slug=${app_slug}`;
  const { items } = await done<{ items: Artifact[] }>('GET', path, { as: 'owner' });
  const found = items.find(({ artifact_name }) => artifact_name === 'runtime');
  if (!found) throw new Error('The demo app has no image.');
  return found;
}

describe('this machine', () => {
  test('is a node that is heard of, and takes what is placed there', async () => {
    const node = await done<Node>('GET', NODE, { as: 'admin' });
    expect(node).toMatchObject({ status: 'ready', placement: 'open', placement_faults: [] });
    expect(node.inventory.vcpu).toBeGreaterThan(0);
    expect(node.last_heartbeat).toMatchObject({ agent_version: expect.stringMatching(/^\d/) as unknown });
    expect(node.last_heartbeat.run_id).toBeTypeOf('string');
  });

  test('is the only one that joined by itself', async () => {
    const { items } = await done<{ items: { id: string; name: string }[] }>('GET', '/api/v1/admin/nodes', {
      as: 'admin',
    });
    expect(items.filter(({ name }) => name === 'this-machine').map(({ id }) => id)).toEqual([node_id]);
  });

  test('keeps its key where nobody else can look', () => {
    const state = join(dirname(ready.aws_credentials_file), 'agent');
    expect(statSync(state).mode & 0o077).toBe(0);
    expect(statSync(join(state, 'node-key.pem')).mode & 0o077).toBe(0);
    plant("a node's key", readFileSync(join(state, 'node-key.pem'), 'utf8'));
  });

  test('gives the demo project an allocation, at the price of its SKU', async () => {
    const path = `/api/v1/projects/${project_id}/allocations/${allocation_id}`;
    expect(await done('GET', path, { as: 'owner' })).toMatchObject({ status: 'active', node_id, sku });
    const { items } = await done<{ items: { sku: string }[] }>('GET', '/api/v1/skus', { as: 'viewer' });
    expect(items).toContainEqual(expect.objectContaining({ sku, accelerator: 'cpu', gpu_count: 0 }));
    const node = await done<Node>('GET', NODE, { as: 'admin' });
    expect(node.capacity.allocations).toBeGreaterThan(0);
  });

  test('is explained: why something would be placed there', async () => {
    const path = `/api/v1/projects/${project_id}/placement/explain?sku=${sku}`;
    expect((await call('GET', path, { as: 'owner' })).status).toBe(200);
  });
});

describe('a task', () => {
  test('goes to the queue of the node, to its agent, and back: a container that answers, then a receipt', async () => {
    const { repository, digest } = await imageOfDemo();
    const workload_id = randomUUID();
    const launched = await perform('oci.launch', {
      workload_id,
      allocation_id,
      org_id,
      project_id,
      container: {
        name: 'main',
        repository,
        digest,
        env: [{ name: 'GREETING', value: 'from a host' }],
        ports: [{ container: 8080, host: 0 }],
        health: { kind: 'http', port: 8080, path: '/health.txt', interval_seconds: 1 },
      },
    });
    expect(launched).toMatchObject({ status: 'succeeded', result: { containers: [{ state: 'ready' }] } });
    const port = launched.result?.containers?.[0]?.ports[0]?.host ?? 0;
    expect((await fetch(`http://127.0.0.1:${port}/health.txt`)).status).toBe(200);
    const containers = filtered('/containers/json', workload_id);
    expect(await askEngine<unknown[]>(containers)).toHaveLength(1);

    const removed = await perform('oci.remove', { workload_id, stop_grace_seconds: 2 });
    expect(removed).toMatchObject({ status: 'succeeded', result: { receipt: { remaining: [] } } });
    expect(removed.result?.receipt?.removed.containers).toHaveLength(1);
    expect(removed.result?.receipt_signature?.split('.')).toHaveLength(3);
    expect(await askEngine<unknown[]>(containers.replace('?', '?all=1&'))).toEqual([]);
    expect(await askEngine<unknown[]>(filtered('/networks', workload_id))).toEqual([]);
    await expect(fetch(`http://127.0.0.1:${port}/health.txt`)).rejects.toThrow('fetch failed');
  }, 180_000);

  test('about what is not there is answered, not dropped', async () => {
    const answer = await call('POST', `${NODE}/tasks`, {
      as: 'admin',
      body: { kind: 'oci.status', payload: { workload_id: randomUUID() } },
    });
    expect(answer).toMatchObject({ status: 404, body: { code: 'workload.unknown' } });
  });

  test('is not for tenants to ask', async () => {
    const body = { kind: 'oci.status', payload: { workload_id: randomUUID() } };
    expect((await call('POST', `${NODE}/tasks`, { as: 'owner', body })).status).toBe(403);
  });
});

describe('another host', () => {
  const state = mkdtempSync(join(tmpdir(), 'gpuaas-another-host-'));
  afterAll(() => rmSync(state, { recursive: true, force: true }));

  test('joins with the one command that its creation answers with, once', async () => {
    const node = await done<{ id: string; join_token: string; join_command: string }>(
      'POST',
      '/api/v1/admin/nodes',
      { as: 'admin', body: { name: 'another' } },
    );
    plant('a join token', node.join_token);
    const path = `/api/v1/admin/nodes/${node.id}`;
    expect(await done('GET', path, { as: 'admin' })).toMatchObject({ status: 'pending' });

    // Run by root here: the command as it is, with where it may write and without a service.
    const command = `${node.join_command.replace('sudo ', '')} --state-dir '${state}' --no-install --no-start`;
    const env = {
      ...process.env,
      GPUAAS_NODE: process.execPath,
      GPUAAS_AGENT_DOCKER_SOCKET: new URL(ready.docker_host ?? '').pathname,
    };
    const run = () => promisify(execFile)('sh', ['-c', command], { env });
    expect((await run()).stdout).toContain('joined. Start the agent with:');
    expect(existsSync(join(state, 'current', 'gpuaas-agent.mjs'))).toBe(true);
    expect(await done('GET', path, { as: 'admin' })).toMatchObject({ status: 'ready' });
    // Again changes nothing.
    const key = readFileSync(join(state, 'node-key.pem'), 'utf8');
    await run();
    expect(readFileSync(join(state, 'node-key.pem'), 'utf8')).toBe(key);

    const cordoned = await done('POST', `${path}/cordon`, { as: 'admin', body: { reason: 'Not needed.' } });
    expect(cordoned).toMatchObject({ placement: 'cordoned' });
    expect((await call('DELETE', path, { as: 'admin' })).status).toBeLessThan(300);
  }, 120_000);
});
