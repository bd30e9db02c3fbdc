import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findCommand } from './machine.ts';

export interface DockerNetwork {
  bridge: string;
  /** Where a container reaches this machine; its own 127.0.0.1 is another. */
  bridgeAddress: string;
  /** Networks made later take their /24 from here. */
  pool: string;
}

interface Range {
  first: number;
  last: number;
}

/**
 * Makes the bridge in a /16 that nothing else on this machine has an address in or a route to: the one that
 * belongs to the seed if possible, so that a data folder keeps its addresses and two of them rarely meet.
 */
export async function createBridge(bridge: string, seed: number): Promise<DockerNetwork> {
  await removeBridges(bridge);
  const routes = await ip<{ dst: string }[]>('-4', 'route', 'show', 'table', 'all');
  const prefix = choosePrefix(
    routes.flatMap(({ dst }) => readRange(dst) ?? []),
    seed,
  );
  if (prefix === undefined)
    throw new Error('Every private IPv4 network has a route on this machine already.');
  const network = { bridge, bridgeAddress: `${prefix}.255.1`, pool: `${prefix}.0.0/17` };
  await ip('link', 'add', bridge, 'type', 'bridge');
  await ip('address', 'add', `${network.bridgeAddress}/24`, 'dev', bridge);
  await ip('link', 'set', bridge, 'up');
  return network;
}

/** With the bridge go those that dockerd made for networks in the same /16, and leaves behind when it ends. */
export async function removeBridges(bridge: string): Promise<void> {
  const links = await ip<{ ifname: string; addr_info?: { local: string }[] }[]>(
    '-4',
    'address',
    'show',
    'type',
    'bridge',
  );
  const address = links.find(({ ifname }) => ifname === bridge)?.addr_info?.[0]?.local;
  const prefix = address?.split('.').slice(0, 2).join('.');
  const isOurs = (local: string) => prefix !== undefined && local.startsWith(`${prefix}.`);
  const ours = links.filter(
    ({ ifname, addr_info }) => ifname === bridge || addr_info?.some(({ local }) => isOurs(local)),
  );
  for (const { ifname } of ours) await ip('link', 'delete', ifname);
}

/** `10.0` to `10.255`, and for the machine whose VPN has a route to all of these, `172.16` to `172.31`. */
export function choosePrefix(taken: Range[], seed: number): string | undefined {
  const isFree = (prefix: string) => {
    const own = readRange(`${prefix}.0.0/16`);
    return own !== undefined && !taken.some((other) => other.first <= own.last && own.first <= other.last);
  };
  const ten = Array.from({ length: 256 }, (_, step) => `10.${(seed + step) % 256}`);
  const fallback = Array.from({ length: 16 }, (_, step) => `172.${16 + ((seed + step) % 16)}`);
  return [...ten, ...fallback].find(isFree);
}

/** `10.1.0.0/16` or a bare address; nothing for `default`, which is a route to everything else. */
export function readRange(destination: string): Range | undefined {
  const [, a, b, c, d, bits = '32'] = /^(\d+)\.(\d+)\.(\d+)\.(\d+)(?:\/(\d+))?$/.exec(destination) ?? [];
  if (a === undefined) return undefined;
  const first = [a, b, c, d].reduce((sum, part) => sum * 256 + Number(part), 0);
  return { first, last: first + 2 ** (32 - Number(bits)) - 1 };
}

async function ip<T>(...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(findCommand('ip') ?? 'ip', ['-json', ...args]);
  return (stdout.trim() === '' ? [] : JSON.parse(stdout)) as T;
}
