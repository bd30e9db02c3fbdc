import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { until } from '../until.ts';
import { childrenOf } from './processes.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-killed-runner-'));

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** What the runner of the tests does, in a process of its own. */
const RUNNER = `
import { startCopy } from ${JSON.stringify(join(import.meta.dirname, '..', 'e2e', 'platform-copy.ts'))};
const [dataDir, assembly] = process.argv.slice(-2);
await startCopy({ dataDir, assembly });
console.log('ready');
`;

test('a runner that is killed leaves no platform behind', async () => {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', RUNNER];
  const runner = spawn(process.execPath, [...args, dataDir, inject('assembly')]);
  let output = '';
  runner.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until(() => output.includes('ready'), 'the platform to be ready', 120);
  expect(childrenOf(dataDir).length).toBeGreaterThan(2);
  runner.kill('SIGKILL');
  await until(() => childrenOf(dataDir).length === 0, 'everything to be gone', 60);
});
