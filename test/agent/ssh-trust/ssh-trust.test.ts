import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { reconcileKeys } from '../../../agent/ssh-trust/authorized-keys.ts';
import { parseUser, type User } from '../../../agent/ssh-trust/find-user.ts';
import { createSshTrust } from '../../../agent/ssh-trust/reconcile-ssh-trust.ts';
import type { Task } from '../../../functions/tasks/task.ts';
import { aTask, silent } from '../a-task.ts';

const OWNER = '0190a000-0000-7000-8000-0000000000aa';
const OTHER = '0190a000-0000-7000-8000-0000000000bb';
const key = (letter: string) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${letter.repeat(43)}`;
const line = (letter: string, owner = OWNER) => `${key(letter)} gpuaas-managed:${owner}`;
const UID = 12_345;

let home: string;
let user: User | undefined;
const file = () => join(home, '.ssh', 'authorized_keys');
const isRoot = process.getuid?.() === 0;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'home-'));
  const uid = isRoot ? UID : (process.getuid?.() ?? 0);
  const gid = isRoot ? UID : (process.getgid?.() ?? 0);
  user = { uid, gid, home };
  chownSync(home, uid, gid);
});

async function reconcile(keys: string[], owner = OWNER) {
  const payload = { user: 'ada', owner_id: owner, keys };
  const task = aTask({ kind: 'ssh_trust.reconcile', payload }) as unknown as Task<'ssh_trust.reconcile'>;
  const signal = new AbortController().signal;
  const perform = createSshTrust((name) => (name === 'ada' ? user : undefined));
  return perform({ task, signal, step: silent, withOutcome: silent, now: () => new Date(), log: silent });
}

function write(text: string, mode = 0o600): void {
  mkdirSync(join(home, '.ssh'), { mode: 0o700 });
  writeFileSync(file(), text);
  chmodSync(file(), mode);
  for (const path of [join(home, '.ssh'), file()]) chownSync(path, user?.uid ?? 0, user?.gid ?? 0);
}

const read = () => readFileSync(file(), 'utf8');

describe('lines', () => {
  test('of this owner become exactly the keys; all others stay as and where they are', () => {
    const text = ['# mine', key('x'), line('a'), line('b', OTHER), '', `${key('y')} someone@home`, line('c')];
    expect(reconcileKeys(`${text.join('\n')}\n`, OWNER, [key('c'), key('d')])).toEqual({
      text: `${['# mine', key('x'), line('b', OTHER), '', `${key('y')} someone@home`, line('c'), line('d')].join('\n')}\n`,
      added: 1,
      removed: 1,
    });
  });

  test('that somebody changed are somebody’s', () => {
    const changed = `command="/bin/true" ${line('a')}\n# ${line('b')}\n`;
    expect(reconcileKeys(changed, OWNER, [])).toEqual({ text: changed, added: 0, removed: 0 });
  });

  test('that are there twice stay once', () => {
    expect(reconcileKeys(`${line('a')}\n${line('a')}\n`, OWNER, [key('a')])).toMatchObject({
      text: `${line('a')}\n`,
      removed: 1,
    });
  });

  test('without an end of line do not run together with ours', () => {
    expect(reconcileKeys(key('x'), OWNER, [key('a')]).text).toBe(`${key('x')}\n${line('a')}\n`);
  });
});

describe('the keys of a user', () => {
  test('are written where there were none, for the user alone', async () => {
    expect(await reconcile([key('a')])).toEqual({ keys_added: 1, keys_removed: 0 });
    expect(read()).toBe(`${line('a')}\n`);
    expect(statSync(file()).mode % 0o1000).toBe(0o600);
    expect(statSync(join(home, '.ssh')).mode % 0o1000).toBe(0o700);
    for (const path of [join(home, '.ssh'), file()]) expect(statSync(path).uid).toBe(user?.uid);
  });

  test('keep owner and mode, and nothing lies beside them', async () => {
    write(`${key('x')}\n`, 0o640);
    await reconcile([key('a')]);
    expect(read()).toBe(`${key('x')}\n${line('a')}\n`);
    expect(statSync(file())).toMatchObject({ uid: user?.uid, gid: user?.gid });
    expect(statSync(file()).mode % 0o1000).toBe(0o640);
    expect(readdirSync(join(home, '.ssh'))).toEqual(['authorized_keys']);
  });

  test('are the same after a second time, and gone when none is wanted', async () => {
    await reconcile([key('a'), key('b')]);
    const { ino } = statSync(file());
    expect(await reconcile([key('b'), key('a')])).toEqual({ keys_added: 0, keys_removed: 0 });
    expect(statSync(file()).ino).toBe(ino);
    await reconcile([key('x')], OTHER);
    expect(await reconcile([])).toEqual({ keys_added: 0, keys_removed: 2 });
    expect(read()).toBe(`${line('x', OTHER)}\n`);
  });

  test('are not written through a link', async () => {
    const target = join(home, 'elsewhere');
    writeFileSync(target, 'untouched');
    mkdirSync(join(home, '.ssh'));
    chownSync(join(home, '.ssh'), user?.uid ?? 0, user?.gid ?? 0);
    symlinkSync(target, file());
    await expect(reconcile([key('a')])).rejects.toMatchObject({ code: 'invalid_payload' });
    expect(readFileSync(target, 'utf8')).toBe('untouched');
    expect(lstatSync(file()).isSymbolicLink()).toBe(true);
  });

  test('are not written into a linked folder', async () => {
    const target = mkdtempSync(join(tmpdir(), 'elsewhere-'));
    symlinkSync(target, join(home, '.ssh'));
    await expect(reconcile([key('a')])).rejects.toMatchObject({ code: 'invalid_payload' });
    expect(readdirSync(target)).toEqual([]);
  });

  test('are not written into a file that has another name', async () => {
    write('');
    linkSync(file(), join(home, 'second'));
    await expect(reconcile([key('a')])).rejects.toThrow('other names');
  });

  test.runIf(isRoot)('are not written into a folder of somebody else', async () => {
    write('');
    chownSync(join(home, '.ssh'), UID + 1, UID + 1);
    await expect(reconcile([key('a')])).rejects.toThrow('somebody else');
  });

  test('are not those of root, nor of a user who is not here', async () => {
    user = { uid: 0, gid: 0, home };
    await expect(reconcile([key('a')])).rejects.toThrow('root');
    user = undefined;
    await expect(reconcile([key('a')])).rejects.toThrow('no user ada');
  });
});

test('users are found in the list of users', () => {
  const passwd = 'root:x:0:0:root:/root:/bin/bash\nada:x:1000:1001:Ada,,,:/home/ada:/bin/sh\nodd:x\n';
  expect(parseUser(passwd, 'ada')).toEqual({ uid: 1000, gid: 1001, home: '/home/ada' });
  expect(parseUser(passwd, 'odd')).toBeUndefined();
  expect(parseUser(passwd, 'eve')).toBeUndefined();
});
