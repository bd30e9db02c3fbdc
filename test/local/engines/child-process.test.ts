import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { superviseChild, type Child, type ChildSpec } from '../../../lib/local/engines/child-process.ts';
import { findFreePort } from '../../../lib/local/engines/machine.ts';

const BEACON = `require('node:http').createServer((_, r) => r.end(String(process.pid))).listen(process.argv[1], '127.0.0.1')`;

let dataDir: string;
let port: number;
let child: Child | undefined;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'child-'));
  port = await findFreePort();
});

afterEach(async () => {
  await child?.stop();
  child = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

const beacon = (changes: Partial<ChildSpec> = {}): ChildSpec => ({
  name: 'beacon',
  command: process.execPath,
  args: ['-e', BEACON, String(port)],
  dataDir,
  ready: async () => (await fetch(`http://127.0.0.1:${port}`)).ok,
  readySecondsMax: 10,
  stopSecondsMax: 1,
  orphanSignal: 'KILL',
  ...changes,
});

const answeringPid = async (): Promise<number | undefined> => {
  const response = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
  return response && Number(await response.text());
};

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

/** Another process that supervises the same beacon, the way a platform does, and is then killed. */
async function killedSupervisor(environment: NodeJS.ProcessEnv): Promise<void> {
  const module = new URL('../../../lib/local/engines/child-process.ts', import.meta.url).href;
  const { ready: _, ...spec } = beacon();
  const source = `
    import { superviseChild } from ${JSON.stringify(module)};
    const ready = async () => (await fetch('http://127.0.0.1:${port}')).ok;
    await superviseChild({ ...${JSON.stringify(spec)}, ready });
    process.stdout.write('ready');`;
  const supervisor = spawn(process.execPath, ['--input-type=module', '-e', source], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(supervisor.stdout, 'data');
  supervisor.kill('SIGKILL');
  await once(supervisor, 'exit');
}

describe('a supervised child', () => {
  test('is ready when it is handed over, and gone when it has been stopped', async () => {
    child = await superviseChild(beacon());
    const pid = child.pid() ?? 0;
    expect(await answeringPid()).toBe(pid);
    await child.stop();
    expect(isAlive(pid)).toBe(false);
    expect(await answeringPid()).toBeUndefined();
  });

  test('is started again when it dies', async () => {
    child = await superviseChild(beacon());
    const first = child.pid() ?? 0;
    process.kill(first, 'SIGKILL');
    await vi.waitFor(
      async () => expect(await answeringPid()).toSatisfy((pid) => pid !== undefined && pid !== first),
      5_000,
    );
    expect(await answeringPid()).toBe(child.pid());
  });

  test('is killed when it does not heed SIGTERM', async () => {
    child = await superviseChild(
      beacon({ args: ['-e', `process.on('SIGTERM', () => {});${BEACON}`, String(port)] }),
    );
    const pid = child.pid() ?? 0;
    await child.stop();
    expect(isAlive(pid)).toBe(false);
  });

  test('that can not start is reported with its last words', async () => {
    const mute = beacon({ args: ['-e', `console.error('no such luck'); process.exit(3)`] });
    await expect(superviseChild(mute)).rejects.toThrow(
      /beacon did not start: it ended with code 3[^]*no such luck/,
    );
  });

  test('that never becomes ready is ended and reported', async () => {
    const deaf = beacon({ ready: async () => false, readySecondsMax: 0.5 });
    await expect(superviseChild(deaf)).rejects.toThrow('it did not answer within 0.5 s');
    expect(await answeringPid()).toBeUndefined();
  });

  test('dies with a parent that is killed', async () => {
    await killedSupervisor(process.env);
    await vi.waitFor(async () => expect(await answeringPid()).toBeUndefined(), 5_000);
  });

  test('that outlived its parent is ended by the next start in the same data folder', async () => {
    // No setpriv to be found: only the pidfile tells of the child.
    await killedSupervisor({ ...process.env, PATH: '/nowhere' });
    const orphan = await answeringPid();
    expect(orphan).toBeDefined();
    child = await superviseChild(beacon());
    expect(isAlive(orphan ?? 0)).toBe(false);
    expect(await answeringPid()).toBe(child.pid());
  });

  test('leaves a process alone that has come by its old pid', async () => {
    const stranger = spawn('sleep', ['60']);
    const file = join(dataDir, 'beacon.pid.json');
    writeFileSync(file, JSON.stringify({ pid: stranger.pid, words: [process.execPath, '-e', BEACON] }));
    child = await superviseChild(beacon());
    expect(isAlive(stranger.pid ?? 0)).toBe(true);
    stranger.kill();
  });
});
