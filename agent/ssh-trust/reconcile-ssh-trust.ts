import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { type Performer, TaskFailed } from '../tasks/performer.ts';
import { reconcileKeys } from './authorized-keys.ts';
import type { FindUser, User } from './find-user.ts';

const FILE = 'authorized_keys';
const DRAFT = 'authorized_keys.gpuaas';
const BYTES_MAX = 1024 * 1024;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Lets people in by their keys, and out again, as one user of this machine. Lines of others are never touched. */
export function createSshTrust(findUser: FindUser): Performer<'ssh_trust.reconcile'> {
  return (ctx) => {
    const { user: name, owner_id, keys } = ctx.task.payload;
    const user = findUser(name);
    if (!user) throw refused(`There is no user ${name} on this host.`);
    if (user.uid === 0) throw refused('Nobody is let in as root.');
    ctx.step('keys.reconcile', { user: name, keys: keys.length });
    return Promise.resolve(withSshFolder(user, (folder) => reconcileFile(folder, user, owner_id, keys)));
  };
}

/**
 * The folder belongs to the user, who may put a link in its place at any moment: it is opened once, without following
 * links, and everything happens below what was opened.
 */
function withSshFolder<T>(user: User, work: (folder: string) => T): T {
  const home = openFolder(user.home, 0);
  try {
    const path = `/proc/self/fd/${home}/.ssh`;
    if (!statOf(path)) makeFolder(path, user);
    const ssh = openFolder(path, O_NOFOLLOW);
    try {
      if (fstatSync(ssh).uid !== user.uid) throw refused('The folder .ssh belongs to somebody else.');
      return work(`/proc/self/fd/${ssh}`);
    } finally {
      closeSync(ssh);
    }
  } finally {
    closeSync(home);
  }
}

function openFolder(path: string, flags: number): number {
  try {
    // eslint-disable-next-line no-bitwise
    return openSync(path, O_RDONLY | O_DIRECTORY | flags);
  } catch (error) {
    throw refused(`A folder on the way to the keys is missing, or is a link (${codeOf(error)}).`);
  }
}

function makeFolder(path: string, { uid, gid }: User): void {
  mkdirSync(path, { mode: 0o700 });
  const folder = openFolder(path, O_NOFOLLOW);
  try {
    fchownSync(folder, uid, gid);
  } finally {
    closeSync(folder);
  }
}

function reconcileFile(folder: string, user: User, ownerId: string, keys: string[]) {
  const before = readKeys(`${folder}/${FILE}`);
  const { text, added, removed } = reconcileKeys(before?.text ?? '', ownerId, keys);
  const result = { keys_added: added, keys_removed: removed };
  if (added === 0 && removed === 0) return result;
  const { uid, gid, mode } = before?.stats ?? { ...user, mode: 0o600 };
  rmSync(`${folder}/${DRAFT}`, { force: true });
  // eslint-disable-next-line no-bitwise
  const draft = openSync(`${folder}/${DRAFT}`, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(draft, text);
    fchownSync(draft, uid, gid);
    fchmodSync(draft, mode % 0o10000);
    fsyncSync(draft);
  } finally {
    closeSync(draft);
  }
  renameSync(`${folder}/${DRAFT}`, `${folder}/${FILE}`);
  return result;
}

function readKeys(path: string): { text: string; stats: Stats } | undefined {
  const there = statOf(path);
  if (!there) return undefined;
  if (!there.isFile()) throw refused('The file authorized_keys is a link, or is not a file.');
  // eslint-disable-next-line no-bitwise
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    // A second name would keep the old content, and a name in a foreign folder would show it to others.
    if (!stats.isFile() || stats.nlink !== 1) throw refused('The file authorized_keys has other names.');
    if (stats.size > BYTES_MAX) throw refused('The file authorized_keys is too large.');
    return { text: readFileSync(file, 'utf8'), stats };
  } finally {
    closeSync(file);
  }
}

const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

const refused = (detail: string): TaskFailed => new TaskFailed('invalid_payload', detail);

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';
