import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchAssembly } from '../../../lib/local/template/watch.ts';
import { until } from '../../until.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watch-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const write = (name: string) => writeFileSync(join(folder, name), String(Math.random()));

test('a burst of changes is one call, and a change during a call is another', async () => {
  let calls = 0;
  let finish = (): void => undefined;
  const watching = watchAssembly(folder, () => {
    calls++;
    return new Promise<void>((resolve) => (finish = resolve));
  });
  for (const name of ['a.json', 'b.json', 'c.json']) write(name);
  await until(() => calls === 1);
  write('a.json');
  // Longer than a burst takes to settle: had the second call not waited, it would be there by now.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(calls).toBe(1);
  finish();
  await until(() => calls === 2);
  finish();
  await watching.close();
});

test('what is no part of a template is not noticed', async () => {
  const changed = vi.fn(() => Promise.resolve());
  const watching = watchAssembly(folder, changed);
  write('index.mjs');
  mkdirSync(join(folder, 'asset'));
  write('template.json');
  await until(() => changed.mock.calls.length === 1);
  await watching.close();
});

test('closing waits for the call under way and begins no other', async () => {
  let finished = false;
  const changed = vi.fn(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    finished = true;
  });
  const watching = watchAssembly(folder, changed);
  write('a.json');
  await until(() => changed.mock.calls.length === 1);
  write('b.json');
  await watching.close();
  expect(finished).toBe(true);
  expect(changed).toHaveBeenCalledTimes(1);
});

test('a folder that cannot be watched costs the reload and nothing else', async () => {
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const watching = watchAssembly(join(folder, 'absent'), () => Promise.resolve());
    await watching.close();
    expect(output.mock.calls.join()).toMatch(/reload +changes in .*absent are not noticed .*start again/);
  } finally {
    output.mockRestore();
  }
});
