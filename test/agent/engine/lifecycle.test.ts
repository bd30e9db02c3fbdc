import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bridgeName } from '../../../agent/engine/labels.ts';
import * as v from 'valibot';
import { Receipt } from '../../../functions/tasks/task.ts';
import { type EngineWorld, failureOf, openEngineWorld } from './world.ts';

const AT_ONCE = 20;

let world: EngineWorld;

beforeAll(async () => {
  world = await openEngineWorld();
});
afterAll(() => world?.close());
afterEach(async () => expect(await world.leftovers()).toEqual([]));

const hello = async (port: number | undefined): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}/`)).text();
const isRefused = (port: number | undefined) =>
  hello(port).then(
    () => false,
    () => true,
  );

describe('one container', () => {
  test('is launched, stopped, started again at its port, and removed with a receipt', async () => {
    const launch = world.launchOf(world.container());
    const { workload_id } = launch;
    const { containers: [launched] = [] } = await world.run('oci.launch', launch);
    expect(launched).toMatchObject({ name: 'main', state: 'ready', digest: world.images.web.digest });
    const port = launched?.ports[0]?.host;
    expect(port).toBeGreaterThanOrEqual(world.portRange.from);
    expect(port).toBeLessThanOrEqual(world.portRange.to);
    expect(await hello(port)).toBe('hello\n');

    const { containers: [stopped] = [] } = await world.run('oci.control', { workload_id, action: 'stop' });
    expect(stopped).toMatchObject({ state: 'stopped', container_id: launched?.container_id });
    expect(await isRefused(port)).toBe(true);
    expect((await world.run('oci.status', { workload_id })).containers?.[0]?.state).toBe('stopped');

    const { containers: [started] = [] } = await world.run('oci.control', { workload_id, action: 'start' });
    expect(started).toMatchObject({ state: 'ready', container_id: launched?.container_id });
    const { containers: [restarted] = [] } = await world.run('oci.control', {
      workload_id,
      action: 'restart',
    });
    expect(restarted?.started_at).not.toBe(started?.started_at);
    expect(await hello(port)).toBe('hello\n');

    const { receipt, receipt_signature } = await world.run('oci.remove', { workload_id });
    expect(receipt).toMatchObject({
      workload_id,
      node_id: world.nodeId,
      removed: {
        containers: [`gpuaas-${workload_id}-main`],
        networks: [`gpuaas-${workload_id}`],
        volumes: [],
        paths: [],
      },
      remaining: [],
    });
    expect(v.parse(Receipt, receipt)).toEqual(receipt);
    expect(await world.platform.verify(receipt_signature ?? '')).toEqual(receipt);
    expect(await isRefused(port)).toBe(true);
  });

  test('takes another bridge where an engine that was killed has kept the one by its name', async () => {
    const launch = world.launchOf(world.container());
    const { workload_id } = launch;
    const kept = await world.docker.createNetwork({
      Name: `kept-${workload_id}`,
      Options: { 'com.docker.network.bridge.name': bridgeName(workload_id) },
    });
    const { containers: [launched] = [] } = await world.run('oci.launch', launch);
    expect(await hello(launched?.ports[0]?.host)).toBe('hello\n');
    await world.run('oci.remove', { workload_id });
    await kept.remove();
  });

  test('removed a second time, or never known, it has an empty receipt', async () => {
    const { receipt, receipt_signature } = await world.run('oci.remove', { workload_id: randomUUID() });
    const nothing = { containers: [], networks: [], volumes: [], paths: [] };
    expect(receipt).toMatchObject({ removed: nothing, kept: { volumes: [] }, remaining: [] });
    expect(await world.platform.verify(receipt_signature ?? '')).toEqual(receipt);
  });

  test('launched again by the same task it is the same container, and another launch is refused', async () => {
    const launch = world.launchOf(world.container());
    const task = world.taskOf('oci.launch', launch);
    const { containers: [first] = [] } = await world.perform(task);
    const { containers: [second] = [] } = await world.perform(task);
    expect(second).toMatchObject({ container_id: first?.container_id, ports: first?.ports });
    const other = { ...launch, container: { ...launch.container, env: [{ name: 'A', value: 'b' }] } };
    expect(await failureOf(world.run('oci.launch', other))).toMatchObject({ code: 'workload_exists' });
    const late = world.taskOf('oci.remove', { workload_id: launch.workload_id }, { fence: 1 });
    expect(await failureOf(world.perform(late))).toMatchObject({ code: 'fenced' });
    expect(await hello(first?.ports[0]?.host)).toBe('hello\n');
    await world.run('oci.remove', { workload_id: launch.workload_id });
  });

  test('its bootstrap runs inside it before it is ready, and its output comes back', async () => {
    const command = ['/bin/sh', '-c', 'echo prepared > /tmp/ready; id -u; echo by bootstrap >&2'];
    const health = { kind: 'command' as const, command: ['/bin/test', '-e', '/tmp/ready'] };
    const launch = world.launchOf(world.container({ bootstrap: { command }, health }));
    const { bootstrap_output } = await world.run('oci.launch', launch);
    expect(bootstrap_output).toContain('64000\n');
    expect(bootstrap_output).toContain('by bootstrap\n');
    await world.run('oci.remove', { workload_id: launch.workload_id });
  });

  test('its last lines are read in order, from both streams', async () => {
    const says = 'echo one; echo two >&2; echo three; exec /bin/httpd -f -p 8080 -h /www';
    const launch = world.launchOf(world.container({ command: ['/bin/sh', '-c', says] }));
    const { workload_id } = launch;
    await world.run('oci.launch', launch);
    const { lines = [] } = await world.run('logs.read', { workload_id });
    expect(lines.map(({ stream, text }) => `${stream} ${text}`).toSorted()).toEqual([
      'stderr two',
      'stdout one',
      'stdout three',
    ]);
    const since = new Date(Date.now() + 60_000).toISOString();
    expect((await world.run('logs.read', { workload_id, since })).lines).toEqual([]);
    expect((await world.run('logs.read', { workload_id, lines: 1 })).lines).toHaveLength(1);
    const unknown = world.run('logs.read', { workload_id, component: 'other' });
    expect(await failureOf(unknown)).toMatchObject({ code: 'workload_unknown' });
    await world.run('oci.remove', { workload_id });
  });
});

describe('volumes', () => {
  test('scratch goes with its workload, persistent stays with the project and nobody else gets it', async () => {
    const [scratch, persistent, project_id] = [randomUUID(), randomUUID(), randomUUID()];
    const mounts = [
      { volume_id: scratch, path: '/workspace' as const },
      { volume_id: persistent, path: '/data' as const },
    ];
    const volumes = [
      { id: scratch, kind: 'scratch' as const },
      { id: persistent, kind: 'persistent' as const, size_gib: 1 },
    ];
    await world.run('volume.create', { project_id, volume: volumes[1] });
    const keeps = 'touch /workspace/a /data/kept && exec /bin/httpd -f -p 8080 -h /www';
    const launch = world.launchOf(world.container({ mounts, command: ['/bin/sh', '-c', keeps] }), {
      volumes,
      project_id,
    });
    await world.run('oci.launch', launch);
    const inUse = world.run('volume.remove', { volume_id: persistent });
    expect(await failureOf(inUse)).toMatchObject({ code: 'volume_in_use' });
    const { receipt } = await world.run('oci.remove', { workload_id: launch.workload_id });
    expect(receipt?.removed.volumes).toEqual([`gpuaas-${scratch}`]);
    expect(receipt?.kept.volumes).toEqual([`gpuaas-${persistent}`]);

    const again = { volumes: volumes.slice(1), project_id };
    const foreign = world.launchOf(world.container({ mounts: mounts.slice(1) }), { volumes: again.volumes });
    expect(await failureOf(world.run('oci.launch', foreign))).toMatchObject({ code: 'volume_unknown' });
    const command = ['/bin/sh', '-c', 'test -e /data/kept && exec /bin/httpd -f -p 8080 -h /www'];
    const later = world.launchOf(world.container({ mounts: mounts.slice(1), command }), again);
    await world.run('oci.launch', later);
    await world.run('oci.remove', { workload_id: later.workload_id });
    await world.run('volume.remove', { volume_id: persistent });
    await world.run('volume.remove', { volume_id: persistent });
  });
});

describe('a project of three services', () => {
  const services = () => [
    world.container({ name: 'web', depends_on: ['api'] }),
    world.container({ name: 'api', ports: [{ container: 8080 }], depends_on: ['store'] }),
    world.container({
      name: 'store',
      ports: [],
      health: { kind: 'tcp', port: 8080, start_seconds: 20 },
    }),
  ];

  test('comes up in the order of its dependencies, its services find each other, and goes as one', async () => {
    const project = world.projectOf(services());
    const { workload_id } = project;
    const { containers = [] } = await world.run('compose.up', project);
    expect(containers.map(({ name, state }) => [name, state])).toEqual([
      ['web', 'ready'],
      ['api', 'ready'],
      ['store', 'ready'],
    ]);
    const ready = Object.fromEntries(
      containers.map(({ name, started_at, ready_at }) => [name, { started_at, ready_at }]),
    );
    expect(ready['store']?.ready_at ?? '').not.toBe('');
    expect((ready['api']?.started_at ?? '') >= (ready['store']?.ready_at ?? 'z')).toBe(true);
    expect((ready['web']?.started_at ?? '') >= (ready['api']?.ready_at ?? 'z')).toBe(true);
    const fetched = await exec(workload_id, 'web', ['/bin/wget', '-q', '-O', '-', 'http://store:8080/']);
    expect(fetched).toBe('hello\n');

    const projects = await promisify(execFile)('docker', [
      '--host',
      world.engine.host,
      'ps',
      '--filter',
      `label=com.docker.compose.project=gpuaas-${workload_id}`,
      '--format',
      '{{.Label "com.docker.compose.service"}}',
    ]);
    expect(projects.stdout.trim().split('\n').toSorted()).toEqual(['api', 'store', 'web']);
    const { receipt } = await world.run('compose.down', { workload_id });
    expect(receipt?.removed.containers).toHaveLength(3);
    expect(receipt?.remaining).toEqual([]);
  });

  test('one that cannot come up takes the others with it', async () => {
    const [web, api, store] = services();
    const project = world.projectOf([web, { ...api, command: ['/bin/false'] }, store] as never);
    expect(await failureOf(world.run('compose.up', project))).toMatchObject({ code: 'exited' });
  });

  async function exec(workloadId: string, component: string, command: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)('docker', [
      '--host',
      world.engine.host,
      'exec',
      `gpuaas-${workloadId}-${component}`,
      ...command,
    ]);
    return stdout;
  }
});

describe('many', () => {
  test(`${AT_ONCE} at once have ports and networks of their own`, async () => {
    const launches = Array.from({ length: AT_ONCE }, () => world.launchOf(world.container()));
    const results = await Promise.all(launches.map((launch) => world.run('oci.launch', launch)));
    const ports = results.map(({ containers }) => containers?.[0]?.ports[0]?.host);
    expect(new Set(ports).size).toBe(AT_ONCE);
    expect(await Promise.all(ports.map(hello))).toEqual(ports.map(() => 'hello\n'));
    await Promise.all(launches.map(({ workload_id }) => world.run('oci.remove', { workload_id })));
  });
});
