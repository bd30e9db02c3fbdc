import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { installScript } from '../../../lib/local/system/system-install.ts';
import {
  commandToRun,
  ensureSystemParts,
  ensureTools,
  lackingParts,
  packagesToInstall,
  type Findings,
} from '../../../lib/local/system/system.ts';

const complete: Findings = {
  java: { path: '/usr/bin/java' },
  registry: '/usr/bin/docker-registry',
  dockerd: '/usr/sbin/dockerd',
  ip: '/usr/sbin/ip',
  nft: '/usr/sbin/nft',
  docker: '/usr/bin/docker',
  busybox: '/bin/busybox',
  packages: 'apt',
  privilege: 'root',
};
const bare: Findings = {
  ...complete,
  java: { unusable: 'none was found' },
  registry: undefined,
  dockerd: undefined,
  ip: undefined,
  nft: undefined,
  docker: undefined,
  busybox: undefined,
};

describe('what to do about missing parts', () => {
  const all = [
    'openjdk-17-jre-headless',
    'docker-registry',
    'docker.io',
    'iproute2',
    'nftables',
    'docker-cli',
    'busybox-static',
  ];
  const apt = 'Install it with: sudo apt-get update && sudo apt-get install -y --no-install-recommends';
  test.each<[string, Findings, string[], string | undefined]>([
    ['nothing when nothing is missing', complete, [], undefined],
    ['root installs everything', bare, all, `${apt} ${all.join(' ')}`],
    ['sudo without a password is as good', { ...bare, privilege: 'sudo' }, all, `${apt} ${all.join(' ')}`],
    ['without the right the command is shown', { ...bare, privilege: 'none' }, [], `${apt} ${all.join(' ')}`],
    [
      'an old Java is replaced',
      { ...complete, java: { unusable: 'is 11' } },
      all.slice(0, 1),
      `${apt} ${all[0]}`,
    ],
    [
      'only what is missing',
      { ...complete, registry: undefined },
      ['docker-registry'],
      `${apt} docker-registry`,
    ],
    [
      'elsewhere root is not enough',
      { ...complete, packages: 'dnf', dockerd: undefined },
      [],
      'Install it with: sudo dnf install -y moby-engine',
    ],
    [
      'a Mac is told about Java alone',
      { ...bare, packages: 'brew' },
      [],
      'Install it with: brew install openjdk@17',
    ],
    [
      'who does not need Java is not asked for it',
      { ...bare, java: 'unneeded', packages: 'brew' },
      [],
      undefined,
    ],
    ['a Mac with Java is left in peace', { ...bare, java: complete.java, packages: 'brew' }, [], undefined],
    [
      'where nothing is known the parts are named',
      { ...complete, packages: undefined, ip: undefined },
      [],
      'Install the ip command (iproute2), then start again.',
    ],
  ])('%s', (_, found, packages, command) => {
    expect(packagesToInstall(found)).toEqual(packages);
    expect(commandToRun(found)).toBe(command);
  });

  test('an unusable Java counts as missing', () => {
    expect(lackingParts({ ...complete, java: { unusable: 'is 11' } })).toEqual(['java']);
  });
});

test('this machine has every part, and hears nothing about it', async () => {
  const said: string[] = [];
  const parts = await ensureSystemParts({ say: (_, message) => said.push(message), needsJava: true });
  expect(said).toEqual([]);
  for (const path of [parts.java, parts.registry, parts.dockerd, parts.busybox])
    expect(existsSync(path ?? '')).toBe(true);
});

describe('tools of the tests', () => {
  test('that are there are not asked for', async () => {
    const said: string[] = [];
    await ensureTools({ sh: 'no-such-package' }, { say: (_, message) => said.push(message) });
    expect(said).toEqual([]);
  });
});

describe('the installation', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'install-'));
    mkdirSync(wants());
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const place = (name: string, script: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  const policy = () => join(folder, 'policy-rc.d');
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');

  const wants = () => join(folder, 'multi-user.target.wants');

  /** Runs the real script with an apt that writes down what it is asked. */
  async function install(packages: string[]): Promise<string[]> {
    const answer = `if [ -x "${policy()}" ]; then "${policy()}"; echo "policy $?"; else echo 'no policy'; fi`;
    place(
      'apt-get',
      `echo "apt-get $* ($(${answer}))" >> "${folder}/calls"; case "$*" in *docker-registry) exit 100;; *docker.io) touch "${wants()}/docker.service" "${wants()}/containerd.service";; esac`,
    );
    const paths = { logFile: join(folder, 'log'), policyFile: policy(), unitsDir: folder, bootDir: folder };
    const script = installScript(packages, paths);
    const environment = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { env: environment });
    return stdout.trim().split('\n');
  }

  test('starts no service, now or at the next boot, and leaves no trace of how', async () => {
    place('apt-cache', 'exit 0');
    await install(['openjdk-17-jre-headless', 'docker.io']);
    const installs = calls().filter((call) => call.includes(' install '));
    expect(installs).toHaveLength(2);
    for (const call of installs)
      expect(call).toMatch(/install -y --no-install-recommends --no-remove \S+ \(policy 101\)$/);
    expect(readdirSync(wants())).toEqual([]);
    expect(existsSync(policy())).toBe(false);
  });

  test('leaves a service alone that the machine had before', async () => {
    place('apt-cache', 'exit 0');
    writeFileSync(join(folder, 'containerd.service'), '');
    await install(['docker.io']);
    expect(readdirSync(wants())).toEqual(['containerd.service']);
  });

  test('takes a policy it left behind when it was killed for its own', async () => {
    place('apt-cache', 'exit 0');
    place('policy-rc.d', '# gpuaas: no service starts while its package is being installed\nexit 101');
    await install(['iproute2']);
    expect(existsSync(policy())).toBe(false);
  });

  test('reads the lists once, and a package that can not be had does not keep the others away', async () => {
    place('apt-cache', 'exit 0');
    const progress = await install(['docker-registry', 'iproute2']);
    expect(calls().filter((call) => call.includes(' update'))).toHaveLength(1);
    expect(progress).toEqual([
      'reading the package lists',
      'installing docker-registry',
      'docker-registry could not be installed',
      'installing iproute2',
    ]);
  });

  test('takes the Java of the release where there is no 17', async () => {
    place('apt-cache', 'exit 100');
    expect(await install(['openjdk-17-jre-headless'])).toContain('installing default-jre-headless');
  });

  test("keeps the machine's own policy", async () => {
    place('apt-cache', 'exit 0');
    place('policy-rc.d', 'exit 104');
    await install(['iproute2']);
    expect(calls().find((call) => call.includes(' install '))).toContain('(policy 104)');
    expect(existsSync(policy())).toBe(true);
  });
});
