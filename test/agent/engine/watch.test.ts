// What happens by itself: restarts, an engine that goes away and comes back, and what a new run of the agent finds.

import { randomFillSync, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type Dockerode from 'dockerode';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EnginePerformers } from '../../../agent/engine/performers.ts';
import { until } from '../../until.ts';
import { makeImage } from './busybox-image.ts';
import { type ContainerInput, type EngineWorld, openEngineWorld } from './world.ts';

let world: EngineWorld;
let neighbour: Dockerode.Container;
let neighbourStarted: string;

beforeAll(async () => {
  world = await openEngineWorld();
  const reference = `${world.platform.ecr.registry.host}/${world.images.web.repository}@${world.images.web.digest}`;
  const payload = world.launchOf(world.container());
  await world.run('oci.launch', payload);
  await world.run('oci.remove', { workload_id: payload.workload_id });
  // Somebody else's, with a name like ours and labels that are not.
  neighbour = await world.docker.createContainer({
    Image: reference,
    name: `gpuaas-${randomUUID()}-main`,
    Labels: { 'gpuaas.workload': randomUUID(), 'gpuaas.node': randomUUID() },
    HostConfig: { RestartPolicy: { Name: 'always' }, Init: true },
  });
  await neighbour.start();
  neighbourStarted = (await neighbour.inspect()).Id;
});
afterAll(() => world?.close());

let watched: { agent: EnginePerformers; end: () => Promise<void> };

function watch(agent: EnginePerformers): void {
  const controller = new AbortController();
  const done = agent.watch(controller.signal);
  watched = {
    agent,
    async end() {
      controller.abort();
      await done;
    },
  };
}

/** The agent ends and the next run begins. */
async function restartAgent(): Promise<void> {
  await watched.end();
  const next = world.openAgent();
  await next.converge();
  watch(next);
}

beforeEach(() => watch(world.openAgent()));
afterEach(async () => {
  for (const { workload_id } of world.journal.listWorkloads()) await run('oci.remove', { workload_id });
  await watched.end();
  expect(await world.leftovers()).toEqual([]);
  const { Id, State } = await neighbour.inspect();
  expect({ Id, isRunning: State.Running }).toEqual({ Id: neighbourStarted, isRunning: true });
});

const run: typeof world.run = (kind, payload) =>
  world.perform(world.taskOf(kind, payload), { by: watched.agent });

async function launch(change: Partial<ContainerInput> = {}): Promise<{ id: string; port: number }> {
  const payload = world.launchOf(world.container(change));
  const { containers } = await run('oci.launch', payload);
  return { id: payload.workload_id, port: containers?.[0]?.ports[0]?.host ?? 0 };
}

const told = (id: string) => world.platform.told.filter(({ workloadId }) => workloadId === id);
const states = (id: string) => told(id).map(({ status }) => status.state);
const isAnswering = (port: number) =>
  fetch(`http://127.0.0.1:${port}/`).then(
    ({ ok }) => ok,
    () => false,
  );
const kill = (id: string, component = 'main') =>
  world.docker.getContainer(`gpuaas-${id}-${component}`).kill({ signal: 'SIGKILL' });

describe('a component that ends', () => {
  test('is restarted, which is told, and keeps its port', async () => {
    const { id, port } = await launch();
    await kill(id);
    await until(() => states(id).includes('ready'));
    expect(states(id)).toEqual(['degraded', 'ready']);
    expect(told(id)[1]?.status.containers[0]).toMatchObject({ state: 'ready', restarts: 1 });
    expect(await isAnswering(port)).toBe(true);
  });

  test('again and again is given up after its restarts', async () => {
    const { id } = await launch({ restarts: 2 });
    const container = world.docker.getContainer(`gpuaas-${id}-main`);
    for (let count = 1; count <= 2; count += 1) {
      await kill(id);
      await until(() => states(id).filter((state) => state === 'ready').length === count);
    }
    await kill(id);
    const last = await until(() => {
      const { status } = told(id).at(-1) ?? {};
      return status?.state === 'failed' && status;
    });
    expect(last.containers[0]).toMatchObject({ state: 'exited', restarts: 2, exit_code: 137 });
    expect(last.detail).toContain('restarted 2 times');
    expect((await container.inspect()).State.Running).toBe(false);
  });

  test('without a health check is noticed too', async () => {
    const { id } = await launch({ health: undefined, ports: [], restarts: 1, command: ['/bin/sleep', '1'] });
    await until(() => states(id).at(-1) === 'failed');
    expect(states(id).slice(0, 1)).toEqual(['degraded']);
  });
});

test('a component that stops answering is restarted', async () => {
  const health = {
    kind: 'command' as const,
    command: ['/bin/test', '!', '-e', '/tmp/sick'],
    interval_seconds: 1,
    failures: 2,
    start_seconds: 10,
  };
  const { id } = await launch({ health });
  const container = world.docker.getContainer(`gpuaas-${id}-main`);
  const before = (await container.inspect()).State.StartedAt;
  const exec = await container.exec({ Cmd: ['/bin/touch', '/tmp/sick'] });
  await exec.start({ Detach: true });
  await until(() => states(id).at(-1) === 'ready');
  expect(states(id)).toEqual(['degraded', 'ready']);
  expect((await container.inspect()).State.StartedAt).not.toBe(before);
});

describe('an engine that is killed', () => {
  const isBack = () => world.docker.ping().then(Boolean, () => false);

  test('while a project runs: all of it comes back, the same containers and ports', async () => {
    const project = world.projectOf([
      world.container({ name: 'web', depends_on: ['store'] }),
      world.container({ name: 'store', ports: [{ container: 8080 }] }),
    ]);
    const { containers = [] } = await run('compose.up', project);
    const port = containers[0]?.ports[0]?.host ?? 0;
    const pid = world.engine.pid() ?? 0;
    process.kill(pid, 'SIGKILL');
    await until(async () => world.engine.pid() !== pid && (await isBack()));
    await until(() => isAnswering(port), 'the project to be back', 60);
    await until(() => states(project.workload_id).at(-1) === 'ready');
    const { containers: after = [] } = await run('compose.status', { workload_id: project.workload_id });
    expect(after.map(({ container_id }) => container_id)).toEqual(
      containers.map(({ container_id }) => container_id),
    );
    await until(async () => (await neighbour.inspect()).State.Running);
  });

  test('while an image is pulled: the launch goes on once it is back', async () => {
    const content = randomFillSync(Buffer.alloc(40 * 1024 * 1024));
    const filler = { kind: 'file' as const, path: 'filler', content };
    const image = await world.platform.publish(makeImage({}, [filler]), { name: 'large' });
    const payload = world.launchOf(world.container({}, image));
    const launched = run('oci.launch', payload);
    await until(isPulling);
    const pid = world.engine.pid() ?? 0;
    process.kill(pid, 'SIGKILL');
    expect((await launched).containers?.[0]?.state).toBe('ready');
    expect(world.logged.join()).toContain('went away during a task');
    await until(async () => (await neighbour.inspect()).State.Running);
  });

  /** The engine keeps here what it has of a layer. */
  const isPulling = (): boolean =>
    readdirSync(join(world.dataDir, 'docker', 'tmp')).some((name) => name.startsWith('GetImageBlob'));
});

describe('the next run of the agent', () => {
  test('finds what runs and leaves it running, starts what was stopped by others, makes what is missing', async () => {
    const [runs, ended, gone] = [await launch(), await launch(), await launch()];
    await watched.end();
    const before = (await world.inspect(runs.id)).State.StartedAt;
    await kill(ended.id);
    await world.docker.getContainer(`gpuaas-${gone.id}-main`).remove({ force: true });
    await restartAgent();
    for (const { port } of [runs, ended, gone]) await until(() => isAnswering(port));
    expect((await world.inspect(runs.id)).State.StartedAt).toBe(before);
    const containers = await world.docker.listContainers({
      filters: { label: [`gpuaas.node=${world.nodeId}`] },
    });
    expect(containers).toHaveLength(3);
  });

  test('leaves stopped what was stopped, and removes what nobody has asked for', async () => {
    const stopped = await launch();
    await run('oci.control', { workload_id: stopped.id, action: 'stop' });
    const unknown = await launch({
      secrets: [{ handle: world.platform.keepSecret('x'), path: '/run/secrets/x' }],
    });
    const record = world.journal.getWorkload(stopped.id);
    await watched.end();
    world.journal.forgetWorkload(unknown.id);
    await world.docker.getContainer(`gpuaas-${stopped.id}-main`).start();
    await restartAgent();
    expect((await world.inspect(stopped.id)).State.Running).toBe(false);
    expect(await world.leftovers()).toEqual([
      `/gpuaas-${stopped.id}-main`,
      `gpuaas-${stopped.id}`,
      `journal ${record?.workload_id}`,
    ]);
  });

  test('finishes a removal that was interrupted, with the whole receipt', async () => {
    const { id } = await launch();
    await watched.end();
    const record = world.journal.getWorkload(id);
    if (record) world.journal.putWorkload({ ...record, desired: 'absent' });
    await restartAgent();
    await expect(world.inspect(id)).rejects.toMatchObject({ statusCode: 404 });
    const { receipt } = await run('oci.remove', { workload_id: id });
    expect(receipt?.removed).toMatchObject({ containers: [`gpuaas-${id}-main`], networks: [`gpuaas-${id}`] });
  });

  test('brings nothing back that it has no trust policy for, until there is one', async () => {
    const { id, port } = await launch();
    await watched.end();
    await kill(id);
    world.platform.state.isTrustThere = false;
    await restartAgent();
    await until(() => told(id).at(-1)?.status.detail?.includes('trust_unavailable'));
    expect(await isAnswering(port)).toBe(false);
    world.platform.state.isTrustThere = true;
    await until(() => isAnswering(port));
  });
});
