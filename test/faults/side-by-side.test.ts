import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { PORT_DEFAULT } from '../../lib/local/system/options.ts';
import { startCopy, type ReadyFile } from '../e2e/platform-copy.ts';
import { until } from '../until.ts';
import { listenersOf } from './listeners.ts';
import { childrenOf } from './processes.ts';
import { readRun, requestRun } from './runs.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const NOBODY = 65_534;
const folders: string[] = [];

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'gpuaas-side-'));
  folders.push(made);
  return made;
}

afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

async function run(args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(ROOT, 'bin', 'local.ts'), ...args], { cwd: ROOT });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, output };
}

test('two copies run side by side, know nothing of each other, and leave nothing behind', async () => {
  const [first, second] = [folder(), folder()];
  const [a, b] = await Promise.all([
    startCopy({ dataDir: first, assembly: inject('assembly'), host: true }),
    startCopy({ dataDir: second, assembly: inject('assembly'), host: true }),
  ]);
  expect(a.ready.api_url).not.toBe(b.ready.api_url);

  const id = await requestRun(a.ready);
  expect((await readRun(a.ready, id)).status).toBe(200);
  expect((await readRun(b.ready, id)).status).toBe(404);

  const refused = await run(['--data', first, '--port', '0']);
  expect(refused.code).toBe(1);
  expect(refused.output).toContain(`already uses ${first}`);
  expect(existsSync(join(first, 'ready.json'))).toBe(true);

  expect(childrenOf(first).length).toBeGreaterThan(1);
  await a.stop('SIGINT');
  await b.stop();
  expect([a.process.exitCode, b.process.exitCode]).toEqual([0, 0]);
  expect(childrenOf(first)).toEqual([]);
  expect(childrenOf(second)).toEqual([]);
  expect(existsSync(join(first, 'ready.json'))).toBe(false);

  const again = await startCopy({ dataDir: first, assembly: inject('assembly'), host: true });
  expect((await readRun(again.ready, id)).status).toBe(200);
  await again.stop();
});

test('without root the platform starts without a container engine and says what that means', async () => {
  const dataDir = folder();
  const readyFile = join(dataDir, 'elsewhere', 'where.json');
  chownSync(dataDir, NOBODY, NOBODY);
  const args = ['--data', join(dataDir, 'data'), '--port', '0', '--assembly', inject('assembly')];
  const child = spawn(process.execPath, [join(ROOT, 'bin', 'local.ts'), ...args, '--ready-file', readyFile], {
    cwd: ROOT,
    uid: NOBODY,
    gid: NOBODY,
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until(() => existsSync(readyFile), 'the ready file, where it was asked for', 120);
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as ReadyFile;
  expect(ready.docker_host).toBeNull();
  await until(() => output.includes('the platform runs without a host'), 'what it says of Docker');
  expect((await fetch(`${ready.api_url}/api/v1/health`)).status).toBe(200);
  // A system may keep those without root from making networks; then it is said.
  const isOpen = output.includes('can be reached without credentials by other programs on this machine');
  expect(listenersOf(child.pid ?? 0)).toHaveLength(isOpen ? 3 : 2);
  // Nobody reads what it says any more: that is no reason to stop otherwise than in order.
  child.stdout.destroy();
  child.kill('SIGINT');
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  expect(existsSync(readyFile)).toBe(false);
});

test('interrupted while it starts, the platform ends what it had started', async () => {
  const dataDir = folder();
  const occupant = createServer().listen(PORT_DEFAULT, '127.0.0.1');
  // Somebody's platform may have it already, which is as good.
  await once(occupant, 'listening').catch(() => undefined);
  const args = ['--data', dataDir, '--assembly', inject('assembly')];
  const child = spawn(process.execPath, [join(ROOT, 'bin', 'local.ts'), ...args], { cwd: ROOT });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until(
    () => output.includes('starting DynamoDB') && childrenOf(dataDir).length > 1,
    'the first child',
    60,
  );
  child.kill('SIGINT');
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  occupant.close();
  expect(output).toMatch(new RegExp(`port ${PORT_DEFAULT} is taken, using \\d+`));
  expect(output).toContain('stopped before everything was ready');
  expect(code).toBe(130);
  expect(childrenOf(dataDir)).toEqual([]);
  expect(readdirSync(dataDir).filter((name) => name.endsWith('.json'))).toEqual([]);
});

test('a port that is taken is named before anything is started', async () => {
  const occupant = createServer().listen(0, '127.0.0.1');
  await once(occupant, 'listening');
  const { port } = occupant.address() as AddressInfo;
  const dataDir = folder();
  const { code, output } = await run(['--data', dataDir, '--port', String(port)]);
  occupant.close();
  expect(code).toBe(1);
  expect(output).toContain(`Port ${port} is taken. Name another with --port`);
  expect(existsSync(join(dataDir, 'dynamodb'))).toBe(false);
});

test('--help tells how to use the command', async () => {
  const { code, output } = await run(['--help']);
  expect(code).toBe(0);
  expect(output).toContain('npm start -- [options]');
});

test('an option that makes no sense is refused with help', async () => {
  const { code, output } = await run(['--port', 'many']);
  expect(code).toBe(2);
  expect(output).toContain('--port takes a number');
  expect(output).toContain('npm start -- [options]');
});

test('--fresh does not clear a folder that is not ours', async () => {
  const { code, output } = await run(['--data', ROOT, '--fresh', '--port', '0']);
  expect(code).toBe(1);
  expect(output).toContain('was not made by the platform');
  expect(existsSync(join(ROOT, 'package.json'))).toBe(true);
});
