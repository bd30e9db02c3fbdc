import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startCopy, type PlatformCopy } from '../e2e/platform-copy.ts';
import { listenersOf } from './listeners.ts';
import { readRun, requestRun } from './runs.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-doors-'));
let copy: PlatformCopy;

beforeAll(async () => {
  copy = await startCopy({ dataDir, assembly: inject('assembly') });
});

afterAll(async () => {
  await copy.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test('the platform listens at its front door and its registry, for this machine alone, and nowhere else', async () => {
  // By then everything has been started that is started when it is needed.
  expect((await readRun(copy.ready, await requestRun(copy.ready))).status).toBe(200);
  const doors = [new URL(copy.ready.api_url).host, copy.ready.registry];
  const addresses = listenersOf(copy.ready.pid).map(({ address }) => address);
  expect(new Set(addresses)).toEqual(new Set(doors));
  for (const address of addresses) expect(address).toMatch(/^127\.0\.0\.1:/);
});

test('both ask who is there', async () => {
  const { api_url, registry } = copy.ready;
  expect((await fetch(`${api_url}/api/v1/admin/audit`)).status).toBe(401);
  for (const path of ['/v2/', '/v2/_catalog', '/v2/any/tags/list', '/'])
    expect((await fetch(`http://${registry}${path}`)).status, path).toBe(401);
});

test('sockets lie in folders that nobody else can enter', () => {
  const docker = new URL(copy.ready.docker_host ?? '').pathname;
  for (const folder of [join(dataDir, 'registry'), dirname(docker)])
    expect(statSync(folder).mode & 0o077, folder).toBe(0);
});
