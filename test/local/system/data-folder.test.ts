import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { folderSecret, takeDataFolder } from '../../../lib/local/system/data-folder.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'data-folder-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('a folder is taken by one platform at a time', async () => {
  const leave = await takeDataFolder(folder, false);
  await expect(takeDataFolder(folder, false)).rejects.toThrow(
    `A platform (process ${process.pid}) already uses ${folder}. Stop it, or start this one with --data`,
  );
  leave();
  (await takeDataFolder(folder, false))();
});

test('one that is refused takes nothing from the one that runs', async () => {
  await takeDataFolder(folder, false);
  const before = readFileSync(join(folder, 'platform.json'), 'utf8');
  for (const fresh of [false, true]) {
    await expect(takeDataFolder(folder, fresh)).rejects.toThrow('already uses');
    expect(readFileSync(join(folder, 'platform.json'), 'utf8')).toBe(before);
  }
});

test.each([
  ['of a process that is gone', JSON.stringify({ pid: 2 ** 22 + 1, startedAt: '1' })],
  ['of a later process with the same number', JSON.stringify({ pid: process.pid, startedAt: '1' })],
  ['cut short when it was written', '{"pid":'],
  ['that is empty', ''],
])('an entry %s does not keep the folder taken', async (_what, entry) => {
  writeFileSync(join(folder, 'platform.json'), entry);
  (await takeDataFolder(folder, false))();
});

test.each([false, true])('a folder with other things in it is refused, fresh: %s', async (fresh) => {
  writeFileSync(join(folder, 'thesis.txt'), 'years of work');
  await expect(takeDataFolder(folder, fresh)).rejects.toThrow(
    `${folder} is not empty and was not made by the platform. Name another folder with --data.`,
  );
  expect(readdirSync(folder)).toEqual(['thesis.txt']);
});

test('fresh forgets everything but whose folder it is', async () => {
  const leave = await takeDataFolder(folder, false);
  const secret = folderSecret(folder);
  expect(folderSecret(folder)).toEqual(secret);
  leave();
  (await takeDataFolder(folder, false))();
  expect(folderSecret(folder)).toEqual(secret);
  await takeDataFolder(folder, true);
  expect(existsSync(join(folder, 'secret'))).toBe(false);
  expect(existsSync(join(folder, 'platform.json'))).toBe(true);
  expect(folderSecret(folder)).not.toEqual(secret);
});

test('the secret is nobody else’s to read', async () => {
  await takeDataFolder(folder, false);
  folderSecret(folder);
  expect(
    spawnSync('stat', ['-c', '%a', join(folder, 'secret')])
      .stdout.toString()
      .trim(),
  ).toBe('600');
});
