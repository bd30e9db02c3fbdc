// Launched and removed again and again, nothing is left: not on the engine, not on the machine, not in the agent.

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEEP } from '../../deep.ts';
import { until } from '../../until.ts';
import type { Host } from './host.ts';
import { launchOf } from './payloads.ts';
import { openWorld, type World } from './world.ts';

const CYCLES = DEEP ? 500 : 30;
/** While one is waited for, the other goes on. */
const LANES = 2;
const SECONDS_MAX = DEEP ? 3600 : 240;
/** By then everything is loaded, compiled and cached that ever will be. */
const WARM = 10;
/** Of the memory when warm; what the collector has not given back yet is in it. */
const GROWTH_MAX = 1.25;

let world: World;
let host: Host;

beforeAll(async () => {
  world = await openWorld();
  host = await world.openHost();
  host.agent.start();
});
afterAll(() => world?.close());

/** After the collector has run. */
async function residentKb(): Promise<number> {
  const collected = () => host.agent.steps().filter(({ label }) => label === 'collected').length;
  const before = collected();
  host.agent.signal('SIGUSR2');
  await until(() => collected() > before, 'the collector to have run', SECONDS_MAX);
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${host.agent.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes);
}

/** What is mounted by the agent, or by the engine for its containers. */
const mounts = (): string[] =>
  readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.includes(world.dataDir) || line.includes(host.nodeId));

const openFiles = (): number => readdirSync(`/proc/${host.agent.pid}/fd`).length;

async function cycle(): Promise<void> {
  const id = randomUUID();
  const volumeId = randomUUID();
  const more = {
    secrets: [{ handle: world.platform.keepSecret('secret'), path: '/run/secrets/token' }],
    mounts: [{ volume_id: volumeId, path: '/workspace' }],
  };
  const payload = { ...launchOf(id, world.web, more), volumes: [{ id: volumeId, kind: 'scratch' }] };
  const [launched] = await host.run([host.taskOf('oci.launch', id, payload)], SECONDS_MAX);
  expect(launched).toMatchObject({ status: 'succeeded' });
  const removal = host.taskOf('oci.remove', id, { workload_id: id, stop_grace_seconds: 2 });
  const [removed] = await host.run([removal], SECONDS_MAX);
  expect(removed).toMatchObject({ status: 'succeeded', result: { receipt: { remaining: [] } } });
}

async function cycles(count: number): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await cycle();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

test(
  `${CYCLES} launches and removals leave nothing behind`,
  async () => {
    await cycle();
    const rules = world.rules();
    const files = readdirSync(host.stateDir).toSorted();
    const networks = (await world.docker.listNetworks()).length;
    const mounted = mounts();
    await cycles(WARM - 1);
    const [warmKb, warmFiles] = [await residentKb(), openFiles()];
    await cycles(CYCLES - WARM);
    expect(await host.leftovers()).toEqual([]);
    expect(await world.docker.listContainers({ all: true })).toEqual([]);
    expect((await world.docker.listVolumes()).Volumes ?? []).toEqual([]);
    expect((await world.docker.listNetworks()).length).toBe(networks);
    expect(readdirSync(host.stateDir).toSorted()).toEqual(files);
    expect(mounts()).toEqual(mounted);
    // Others on this machine may be at theirs just now.
    await until(() => world.rules() === rules, 'the rules of the firewall to be as before');
    expect((await residentKb()) / warmKb).toBeLessThan(GROWTH_MAX);
    // Connections to the platform, the queue and the engine are kept and used again.
    expect(openFiles() - warmFiles).toBeLessThanOrEqual(5);
  },
  SECONDS_MAX * 1000,
);
