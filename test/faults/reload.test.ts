import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCopy, type PlatformCopy } from '../e2e/platform-copy.ts';
import { until } from '../until.ts';

const ROOT = join(import.meta.dirname, '..', '..');
// Synthesizing takes seconds, and on a busy machine many.
const RELOAD_SECONDS_MAX = 60;
const SOURCES = [
  'bin',
  'lib',
  'functions',
  'sdk',
  'state-machines',
  // Served and seeded from there.
  'agent',
  'docs/schemas',
  'starter-pack',
  'package.json',
  'cdk.json',
  'tsconfig.json',
];

const folder = mkdtempSync(join(tmpdir(), 'gpuaas-reload-'));
const checkout = join(folder, 'checkout');
const handler = join(checkout, 'functions', 'selftest', 'get-health.ts');
let copy: PlatformCopy;

beforeAll(async () => {
  for (const name of SOURCES) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  copy = await startCopy({ dataDir: join(folder, 'data'), root: checkout });
});

afterAll(async () => {
  await copy.stop();
  rmSync(folder, { recursive: true, force: true });
});

const health = async (): Promise<{ status: string }> =>
  (await fetch(`${copy.ready.api_url}/api/v1/health`)).json() as Promise<{ status: string }>;

test('an edited function answers with its new code, without a restart; one that is broken changes nothing', async () => {
  const source = readFileSync(handler, 'utf8');
  expect(await health()).toMatchObject({ status: 'ok' });

  writeFileSync(handler, `${source}\nthis is not TypeScript`);
  await until(
    () => copy.output().includes('could not be synthesized'),
    'the error to be shown',
    RELOAD_SECONDS_MAX,
  );
  expect(await health()).toMatchObject({ status: 'ok' });

  writeFileSync(handler, source.replaceAll(`'ok'`, `'edited'`));
  await until(async () => (await health()).status === 'edited', 'the new code to answer', RELOAD_SECONDS_MAX);
});
