import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A TCP port somebody listens on. */
export interface Listener {
  /** As `ss` writes it: `127.0.0.1:80`, `0.0.0.0:80`, `[::]:80`. */
  address: string;
  /** The processes that hold it, by their command lines. */
  commands: string[];
}

const LISTENING = '0A';

/** All ports of this machine, as the kernel knows them, that a process or one of its descendants listens on. */
export function listenersOf(pid: number): Listener[] {
  const family = descendantsOf(pid);
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === LISTENING)
      .map(([, local = '', , , , , , , , inode]) => ({
        address: addressOf(local),
        commands: family.filter((one) => socketsOf(one).has(`socket:[${inode}]`)).map(commandOf),
      }))
      .filter(({ commands }) => commands.length > 0),
  );
}

function descendantsOf(pid: number): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(Number(name))]),
  );
  const isBelow = (one: number): boolean => one === pid || (one > 1 && isBelow(parents.get(one) ?? 0));
  return [...parents.keys()].filter(isBelow);
}

function parentOf(pid: number): number {
  const stat = tryToRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

function socketsOf(pid: number): Set<string> {
  const names = tryToRead(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return new Set(names.map((name) => tryToRead(() => readlinkSync(`/proc/${pid}/fd/${name}`)) ?? ''));
}

const commandOf = (pid: number): string =>
  tryToRead(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()) ?? '';

/** Nothing, if it ended meanwhile. */
function tryToRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The kernel writes an address as words in the order of its bytes: `0100007F:1F90` is 127.0.0.1:8080. */
function addressOf(local: string): string {
  const [hex = '', port = ''] = local.split(':');
  const bytes = hex.match(/.{8}/g)?.flatMap((word) => word.match(/../g)?.toReversed() ?? []) ?? [];
  const host =
    bytes.length === 4
      ? bytes.map((byte) => Number.parseInt(byte, 16)).join('.')
      : `[${new URL(`http://[${bytes.join('').replace(/.{4}(?=.)/g, '$&:')}]`).hostname.slice(1, -1)}]`;
  return `${host}:${Number.parseInt(port, 16)}`;
}
