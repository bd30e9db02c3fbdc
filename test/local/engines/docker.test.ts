import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { choosePrefix, readRange } from '../../../lib/local/engines/docker-network.ts';
import { startDocker, type Docker } from '../../../lib/local/engines/docker.ts';
import { findFreePort } from '../../../lib/local/engines/machine.ts';
import { dockerCli, importBusybox, type DockerCli } from './container-image.ts';

const IMAGE = 'busybox:test';

async function start(dataDir: string): Promise<Docker> {
  const docker = await startDocker({ dataDir });
  if ('unavailable' in docker) throw new Error(`No container engine: ${docker.unavailable}`);
  return docker;
}

const mountsIn = (folder: string) =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(` ${folder}`));

const bridgeOf = (docker: Docker) =>
  Object.entries(networkInterfaces()).find(([, addresses]) =>
    addresses?.some(({ address }) => address === docker.bridgeAddress),
  )?.[0];

/** The same engine under a process of its own, which can be killed. */
async function startElsewhere(dataDir: string): Promise<{ supervisor: ChildProcess; dockerd: number }> {
  const module = new URL('../../../lib/local/engines/docker.ts', import.meta.url).href;
  const source = `
    import { startDocker } from ${JSON.stringify(module)};
    const docker = await startDocker({ dataDir: ${JSON.stringify(dataDir)} });
    process.stdout.write(String(docker.pid()));`;
  const supervisor = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [pid] = (await once(supervisor.stdout, 'data')) as [Buffer];
  return { supervisor, dockerd: Number(pid) };
}

const processesRunning = (...words: string[]) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter(
      (pid) =>
        existsSync(`/proc/${pid}/cmdline`) &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(words.join('\0')),
    );

describe('a container engine of our own', () => {
  let dataDir: string;
  let docker: Docker;
  let cli: DockerCli;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'docker-'));
    docker = await start(dataDir);
    cli = dockerCli(docker.host, join(dataDir, 'docker-config'));
    await importBusybox(cli, IMAGE);
  });

  afterAll(async () => {
    await docker.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('serves a published port on 127.0.0.1, and its containers reach this machine at the bridge', async () => {
    const port = await findFreePort();
    const serve = [
      'sh',
      '-c',
      'busybox mkdir /www; echo hello > /www/index.html; exec httpd -f -p 80 -h /www',
    ];
    await cli('run', '--detach', '--init', '--name=web', `--publish=127.0.0.1:${port}:80`, IMAGE, ...serve);
    await vi.waitFor(
      async () => expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('hello\n'),
      5_000,
    );
    await cli('run', '--rm', IMAGE, 'busybox', 'ping', '-c', '1', docker.bridgeAddress);
    await cli('rm', '--force', 'web');
  });

  test('stands beside another without meeting it', async () => {
    const otherDir = mkdtempSync(join(tmpdir(), 'docker-'));
    const other = await start(otherDir);
    try {
      const otherCli = dockerCli(other.host, join(otherDir, 'docker-config'));
      expect(bridgeOf(other)).not.toBe(bridgeOf(docker));
      expect(await otherCli('images', '--quiet')).toBe('');
      const [mine, theirs] = await Promise.all(
        [cli, otherCli].map((each) => each('network', 'create', 'apps')),
      );
      expect(mine).not.toBe(theirs);
      const subnet = (each: DockerCli) =>
        each('network', 'inspect', 'apps', '--format', '{{(index .IPAM.Config 0).Subnet}}');
      expect(await subnet(cli)).not.toBe(await subnet(otherCli));
    } finally {
      await other.stop();
      rmSync(otherDir, { recursive: true, force: true });
    }
    expect(await cli('images', '--format', '{{.Repository}}:{{.Tag}}')).toBe(IMAGE);
  });

  test('killed, it comes back by itself with its images and containers, and no mount too many', async () => {
    await cli('run', '--detach', '--init', '--name=worker', IMAGE, 'sleep', '600');
    process.kill(docker.pid() ?? 0, 'SIGKILL');
    const isBack = async () =>
      expect(await cli('ps', '--all', '--format', '{{.Names}} {{.Status}}')).toMatch(/^worker Exited/);
    await vi.waitFor(isBack, { timeout: 15_000, interval: 100 });
    expect(mountsIn(join(dataDir, 'docker'))).toHaveLength(1);
    await cli('start', 'worker');
    await cli('rm', '--force', 'worker');
  });

  test('after a death of everything at once the next run starts and ends what is left', async () => {
    await docker.stop();
    const first = await startElsewhere(dataDir);
    // No --init: a shell that is the first process heeds no SIGTERM.
    await cli('run', '--detach', '--name=stubborn', IMAGE, 'sleep', '601');
    process.kill(first.dockerd, 'SIGKILL');
    first.supervisor.kill('SIGKILL');
    expect(processesRunning('sleep', '601')).toHaveLength(1);
    docker = await start(dataDir);
    expect(processesRunning('sleep', '601')).toEqual([]);
    expect(await cli('ps', '--all', '--format', '{{.Names}} {{.Status}}')).toMatch(/^stubborn Exited/);
    await cli('rm', 'stubborn');
  });

  test('stopped, it leaves no bridge, no mount and no socket, and a later run has the images', async () => {
    const bridge = bridgeOf(docker);
    expect(bridge).toBeDefined();
    await docker.stop();
    expect(Object.keys(networkInterfaces())).not.toContain(bridge);
    expect(mountsIn(dataDir)).toEqual([]);
    expect(existsSync(docker.socketPath)).toBe(false);
    const address = docker.bridgeAddress;
    docker = await start(dataDir);
    expect(docker.bridgeAddress).toBe(address);
    expect(await cli('images', '--format', '{{.Repository}}:{{.Tag}}')).toBe(IMAGE);
  });
});

describe('the choice of addresses', () => {
  const taken = (...destinations: string[]) =>
    destinations.flatMap((destination) => readRange(destination) ?? []);

  test.each([
    ['the network of the seed when it is free', taken('default', '192.168.0.0/16'), 7, '10.7'],
    ['the next when a smaller network lies in it', taken('10.7.3.0/24'), 7, '10.8'],
    ['the next when a single address lies in it', taken('10.7.0.1'), 7, '10.8'],
    ['from the start again after the last', taken('10.255.0.0/16', '10.0.0.0/16'), 255, '10.1'],
    ['another range when all of 10 is routed', taken('10.0.0.0/8', '172.17.0.0/16'), 1, '172.18'],
    ['none when everything is routed', taken('0.0.0.0/0'), 1, undefined],
  ])('takes %s', (_, ranges, seed, prefix) => {
    expect(choosePrefix(ranges, seed)).toBe(prefix);
  });
});
