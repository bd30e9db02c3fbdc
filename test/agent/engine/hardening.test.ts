// What a container gets, read from the engine and from inside it; and what it does not get.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeImage } from './busybox-image.ts';
import type { Published } from './platform.ts';
import { type ContainerInput, type EngineWorld, failureOf, openEngineWorld } from './world.ts';

const SECRET = 'a-value-that-must-not-be-found';

let world: EngineWorld;

beforeAll(async () => {
  world = await openEngineWorld();
});
afterAll(() => world?.close());

const running: string[] = [];
afterEach(async () => {
  for (const workload_id of running.splice(0)) await world.run('oci.remove', { workload_id });
  expect(await world.leftovers()).toEqual([]);
});

async function launch(change: Partial<ContainerInput> = {}, image?: Published): Promise<string> {
  const payload = world.launchOf(world.container(change, image));
  await world.run('oci.launch', payload);
  running.push(payload.workload_id);
  return payload.workload_id;
}

const inside = (workloadId: string, script: string): string =>
  execFileSync(
    'docker',
    [
      '--host',
      world.engine.host,
      'exec',
      `gpuaas-${workloadId}-main`,
      '/bin/sh',
      '-c',
      `{ ${script}; } 2>&1 || true`,
    ],
    { encoding: 'utf8' },
  );

test('it has no capability, no new privileges, the default seccomp profile, its limits and nothing of the host', async () => {
  const id = await launch();
  const { HostConfig, Config, Mounts } = await world.inspect(id);
  expect(HostConfig).toMatchObject({
    Privileged: false,
    CapAdd: [],
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true'],
    ReadonlyRootfs: true,
    PidsLimit: 64,
    Memory: 64 * 1024 * 1024,
    MemorySwap: 64 * 1024 * 1024,
    NanoCpus: 1e9,
    ShmSize: 64 * 1024 * 1024,
    Init: true,
    IpcMode: 'private',
    PidMode: '',
    UTSMode: '',
    UsernsMode: '',
    NetworkMode: `gpuaas-${id}`,
    Devices: [],
    DeviceRequests: [],
    RestartPolicy: { Name: 'no' },
    LogConfig: { Type: 'local' },
  });
  expect(HostConfig.Binds ?? []).toEqual([]);
  expect(Object.values(HostConfig.PortBindings as Record<string, { HostIp: string }[]>).flat()).toMatchObject(
    [{ HostIp: '127.0.0.1' }],
  );
  expect(Config).toMatchObject({ User: '64000:64000', Hostname: 'main' });
  expect(Mounts).toEqual([]);
  const status = inside(id, 'cat /proc/self/status');
  expect(status).toMatch(/^CapBnd:\s+0+$/m);
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
  expect(status).toMatch(/^Seccomp:\s+2$/m);
  expect(inside(id, 'touch /here')).toContain('Read-only file system');
  expect(inside(id, 'touch /tmp/here /run/here && echo written')).toBe('written\n');
});

test('it sees no variable of the platform but those the platform has set, whatever its image says', async () => {
  const Env = ['PATH=/bin', 'GPUAAS_TOKEN=forged', 'NVIDIA_VISIBLE_DEVICES=all', 'LD_PRELOAD=/evil.so'];
  const image = await world.platform.publish(makeImage({ Env }), { name: 'env' });
  const id = await launch({ env: [{ name: 'GREETING', value: 'hello' }] }, image);
  const seen = inside(id, 'env').split('\n').toSorted();
  expect(seen).toContain('GREETING=hello');
  expect(seen).toContain(`GPUAAS_WORKLOAD_ID=${id}`);
  expect(seen).toContain('NVIDIA_VISIBLE_DEVICES=void');
  expect(seen.filter((line) => /forged|LD_PRELOAD/.test(line))).toEqual([]);
});

test('volumes that its image declares are memory: nothing without a label lies on the disk', async () => {
  const image = await world.platform.publish(makeImage({ Volumes: { '/var/lib/app/': {} } }), {
    name: 'vol',
  });
  const id = await launch({}, image);
  expect(inside(id, 'mount | grep /var/lib/app')).toContain('tmpfs');
  expect(inside(id, 'touch /var/lib/app/mine && echo written')).toBe('written\n');
  expect((await world.docker.listVolumes()).Volumes ?? []).toEqual([]);
});

describe('who it runs as', () => {
  const passwd = (text: string) => ({
    kind: 'file' as const,
    path: 'etc/passwd',
    content: Buffer.from(text),
  });
  const publish = (User: string, file = '') =>
    world.platform.publish(makeImage({ User }, [passwd(file)]), { name: 'user' });

  test.each([
    ['a number', '1234:99', '', '1234 99'],
    ['a name', 'app', 'root:x:0:0::/:\napp:x:1001:1002::/:\n', '1001 1002'],
  ])('the image names %s', async (_, user, file, expected) => {
    const id = await launch({}, await publish(user, file));
    expect(inside(id, 'echo $(id -u) $(id -g)').trim()).toBe(expected);
  });

  test.each([
    ['root', 'root', ''],
    ['0', '0', ''],
    ['a name that stands for root', 'app', 'app:x:0:0::/:\n'],
    ['a name that the image does not know', 'nobody', ''],
  ])('an image that names %s is refused', async (_, user, file) => {
    const image = await publish(user, file);
    const payload = world.launchOf(world.container({}, image));
    expect(await failureOf(world.run('oci.launch', payload))).toMatchObject({ code: 'root_refused' });
  });

  test('one whose profile needs root is refused unless the policy allows it, and has no capability then either', async () => {
    const image = await publish('root');
    const payload = world.launchOf(world.container({ root: true }, image));
    expect(await failureOf(world.run('oci.launch', payload))).toMatchObject({ code: 'root_refused' });
    world.platform.state.allowRoot = true;
    const id = await launch({ root: true }, image);
    world.platform.state.allowRoot = false;
    expect(inside(id, 'id -u')).toBe('0\n');
    expect(inside(id, 'cat /proc/self/status')).toMatch(/^CapBnd:\s+0+$/m);
  });
});

describe('secrets', () => {
  const withSecret = () => ({
    secrets: [{ handle: world.platform.keepSecret(SECRET), path: '/run/secrets/token' }],
  });
  const folderOf = (id: string) => join('/run/gpuaas-agent', world.nodeId, id);

  test('are a file in memory that the process can read, and nobody can change', async () => {
    const id = await launch(withSecret());
    expect(inside(id, 'cat /run/secrets/token')).toBe(SECRET);
    expect(inside(id, 'echo x > /run/secrets/token; touch /run/secrets/new')).toMatch(
      /(Read-only|denied)[^]*(Read-only|denied)/,
    );
    const file = join(folderOf(id), 'main', 'token');
    const { mode, uid } = statSync(file);
    expect((mode & 0o777).toString(8)).toBe('400');
    expect(uid).toBe(64_000);
    const mount = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .find((line) => line.includes(` ${join('/run/gpuaas-agent', world.nodeId)} `));
    expect(mount).toMatch(/^\S+ \S+ tmpfs rw,nosuid,nodev,noexec/);
  });

  test('are in no variable, label, inspection, log, journal or file, and go with the workload', async () => {
    const id = await launch(withSecret());
    const seen = [
      JSON.stringify(await world.inspect(id)),
      JSON.stringify(world.journal.listWorkloads()),
      world.logged.join('\n'),
      inside(id, 'env'),
      JSON.stringify((await world.run('oci.status', { workload_id: id })).containers),
    ].join('\n');
    expect(seen).not.toContain(SECRET);
    expect(filesWith(world.dataDir, SECRET)).toEqual([]);
    const { receipt } = await world.run('oci.remove', { workload_id: running.pop() });
    expect(receipt?.removed.paths).toEqual([folderOf(id)]);
    expect(existsSync(folderOf(id))).toBe(false);
  });

  test('a handle that was spent by somebody else starts nothing', async () => {
    const [secret] = withSecret().secrets;
    await world.platform.channel.secret(secret?.handle ?? '', 'another-fetch');
    const payload = world.launchOf(world.container({ secrets: secret ? [secret] : [] }));
    expect(await failureOf(world.run('oci.launch', payload))).toMatchObject({ code: 'secret_unavailable' });
  });

  /** In the engine's folder and the agent's. */
  const filesWith = (folder: string, text: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(
        (entry) =>
          entry.isFile() && !entry.parentPath.includes('overlay2') && !entry.parentPath.includes('registry'),
      )
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => readFileSync(file).includes(text));
});

describe('its network', () => {
  test('is a bridge of its own, behind rules that are made again when somebody flushes them', async () => {
    const id = await launch();
    const [network] = await world.docker.listNetworks({ filters: { label: [`gpuaas.workload=${id}`] } });
    expect(network?.Options?.['com.docker.network.bridge.name']).toMatch(/^gpw[0-9a-f]{12}$/);
    execFileSync('nft', ['delete', 'table', 'inet', 'gpuaas']);
    await launch();
    const table = execFileSync('nft', ['list', 'table', 'inet', 'gpuaas'], { encoding: 'utf8' });
    expect(table).toContain('iifname "gpw*" ip daddr 169.254.0.0/16 drop');
  });

  test('leads to no port of the host, while the host reaches the container', async () => {
    const id = await launch();
    const gateway = inside(id, 'cat /proc/net/route').split('\n')[1]?.split('\t')[2] ?? '';
    const address = [3, 2, 1, 0]
      .map((byte) => Number.parseInt(gateway.slice(byte * 2, byte * 2 + 2), 16))
      .join('.');
    expect(address).toMatch(/^10\./);
    expect(inside(id, `nc -w 1 ${address} 22 < /dev/null; echo $?`)).toMatch(/1\n$/);
    expect(inside(id, `nc -w 1 ${world.engine.bridgeAddress} 22 < /dev/null; echo $?`)).toMatch(/1\n$/);
  });
});
