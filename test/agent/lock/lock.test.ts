import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AlreadyRunning, lockStateDir } from '../../../agent/lock/lock.ts';

const stateDir = () => mkdtempSync(join(tmpdir(), 'agent-'));

test('a second agent of the same state directory is refused until the first has ended', () => {
  const folder = stateDir();
  const first = lockStateDir(folder);
  expect(() => lockStateDir(folder)).toThrow(AlreadyRunning);
  first.release();
  lockStateDir(folder).release();
});

test('an agent that was killed holds nothing', async () => {
  const folder = stateDir();
  const lock = join(import.meta.dirname, '../../../agent/lock/lock.ts');
  const code = `import { lockStateDir } from ${JSON.stringify(lock)};
    globalThis.kept = lockStateDir(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000);`;
  const words = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  expect(() => lockStateDir(folder)).toThrow(AlreadyRunning);
  child.kill('SIGKILL');
  await once(child, 'close');
  lockStateDir(folder).release();
});
