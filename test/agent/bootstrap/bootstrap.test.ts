// The script that makes a machine a host, on a machine of which the tools are the test's: they write down what was asked
// of them, and the platform is one that answers over HTTP.

import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SmallPlatform, startSmallPlatform } from '../small-platform.ts';
import { NODE } from '../a-task.ts';

const SCRIPT = readFileSync(resolve(import.meta.dirname, '../../../agent/bootstrap/bootstrap.sh'), 'utf8');
/** Of this machine, and no others: what the script needs besides is made by each test. */
const PLAIN = [
  'sh',
  'cat',
  'chmod',
  'cp',
  'dirname',
  'curl',
  'grep',
  'head',
  'id',
  'ln',
  'mkdir',
  'mktemp',
  'mv',
  'rm',
  'sed',
  'sort',
  'uname',
];
const TOKEN = 't'.repeat(43);
/** Joins by writing down what it was told. */
const AGENT = `import { writeFileSync } from 'node:fs';
const words = process.argv.slice(2);
const state = words[words.indexOf('--state-dir') + 1];
writeFileSync(state + '/config.json', JSON.stringify({ words, token: process.env.GPUAAS_JOIN_TOKEN }));`;

let platform: SmallPlatform;
let folder: string;
let state: string;

beforeAll(async () => {
  platform = await startSmallPlatform(NODE);
});
afterAll(() => platform.stop());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'host-'));
  state = join(folder, 'state');
  mkdirSync(join(folder, 'bin'));
  for (const name of PLAIN) tool(name, `exec ${pathOf(name)} "$@"`);
  tool('node', `exec ${process.execPath} "$@"`);
  release(AGENT);
});

const pathOf = (name: string): string =>
  ['/usr/bin', '/bin'].map((each) => join(each, name)).find((path) => existsSync(path)) ?? name;

function tool(name: string, does: string): void {
  const path = join(folder, 'bin', name);
  writeFileSync(path, `#!/bin/sh\n${does}\n`);
  chmodSync(path, 0o755);
}

/** One that is asked for something, and writes it down. */
const noted = (name: string) => tool(name, `echo "${name} $*" >> ${join(folder, 'asked')}`);

const asked = (): string[] =>
  existsSync(join(folder, 'asked')) ? readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n') : [];

function release(bundle: string, digest = `sha256:${hash('sha256', bundle)}`): void {
  platform.on('GET /api/v1/agent/bundle.mjs', () => ({ body: Buffer.from(bundle) }));
  platform.on('GET /api/v1/agent/release', async () => ({
    body: {
      document: await platform.signed({ version: '1.2.3', digest, size_bytes: bundle.length, iat: 1 }),
    },
  }));
}

const dockerSettings = (): string => join(folder, 'docker', 'daemon.json');

function bootstrap(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const script = join(folder, 'bootstrap.sh');
  writeFileSync(script, SCRIPT.replaceAll('@PLATFORM_URL@', platform.url));
  const env = {
    PATH: join(folder, 'bin'),
    GPUAAS_JOIN_TOKEN: TOKEN,
    GPUAAS_DOCKER_SETTINGS: dockerSettings(),
    TMPDIR: folder,
  };
  const all = [script, '--node', NODE, '--state-dir', state, ...words];
  return new Promise((answer) => {
    execFile('/bin/sh', all, { env }, (error, out, err) =>
      answer({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

/** As on a machine that has everything. */
function withEverything(): void {
  for (const name of ['nft', 'ip', 'dockerd', 'docker', 'systemctl']) noted(name);
}

describe.runIf(process.getuid?.() === 0)('the script', () => {
  test('downloads the agent, checks it, joins, and leaves it to be started by its launcher', async () => {
    withEverything();
    const { code, out, err } = await bootstrap('--no-start');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(readlinkSync(join(state, 'current'))).toBe('releases/1.2.3');
    expect(readFileSync(join(state, 'current', 'gpuaas-agent.mjs'), 'utf8')).toBe(AGENT);
    expect(readFileSync(join(state, 'launcher.mjs'), 'utf8')).toBe(AGENT);
    expect(existsSync(dockerSettings()), 'settings of an engine that is there stay').toBe(false);
    expect(out).toContain(`${join(state, 'launcher.mjs')} launch --state-dir ${state}`);
    const { words, token } = JSON.parse(readFileSync(join(state, 'config.json'), 'utf8')) as {
      words: string[];
      token: string;
    };
    expect(words.slice(0, 7)).toEqual(['join', '--state-dir', state, '--url', platform.url, '--node', NODE]);
    // Whoever may list processes must not see it.
    expect(words).not.toContain(TOKEN);
    expect(token).toBe(TOKEN);
  });

  test('a second time changes nothing', async () => {
    withEverything();
    await bootstrap('--no-start');
    const config = readFileSync(join(state, 'config.json'), 'utf8');
    platform.asked.length = 0;
    release('console.log("newer")');
    const { code, out } = await bootstrap('--no-start');
    expect(code).toBe(0);
    expect(out).toContain('has joined already');
    expect(platform.asked).toEqual([]);
    expect(readFileSync(join(state, 'config.json'), 'utf8')).toBe(config);
    expect(readFileSync(join(state, 'current', 'gpuaas-agent.mjs'), 'utf8')).toBe(AGENT);
  });

  test('does not take an agent that is not the released one', async () => {
    withEverything();
    release(AGENT, `sha256:${'0'.repeat(64)}`);
    const { code, err } = await bootstrap('--no-start');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('not the one released') as string,
    });
    expect(existsSync(join(state, 'current'))).toBe(false);
  });

  test('installs what is missing, and only that', async () => {
    for (const name of ['ip', 'docker', 'apt-get', 'apt-cache']) noted(name);
    expect((await bootstrap('--no-start')).code).toBe(0);
    const installed = asked().filter((line) => / install /.test(line));
    expect(installed.map((line) => line.split(' ').at(-1))).toEqual(['nftables', 'docker.io']);
    // Room for more networks than the engine's own settings have.
    expect(JSON.parse(readFileSync(dockerSettings(), 'utf8'))).toHaveProperty('default-address-pools');
  });

  test('says what to install where it cannot', async () => {
    for (const name of ['ip', 'docker', 'dockerd']) noted(name);
    const { code, err } = await bootstrap('--no-start');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('nftables') as string });
  });
});

test('with --dry-run it says what it would do, and does none of it', async () => {
  for (const name of ['ip', 'apt-get', 'apt-cache']) noted(name);
  const { code, out, err } = await bootstrap('--dry-run');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  for (const line of [
    'install -y',
    'nftables',
    'docker.io',
    `download the agent from ${platform.url}`,
    'join',
  ])
    expect(out).toContain(line);
  expect(asked().filter((line) => line.startsWith('apt-get'))).toEqual([]);
  expect(existsSync(state)).toBe(false);
});

test('what it does not know, it refuses', async () => {
  expect(await bootstrap('--force')).toMatchObject({ code: 1, err: expect.stringContaining('--force') });
});
