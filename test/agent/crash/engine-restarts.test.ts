// The container engine dies while the agent lives, and the whole host is started anew.

import { randomBytes, randomUUID } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { makeImage } from '../engine/busybox-image.ts';
import type { Host } from './host.ts';
import { launchOf, projectOf } from './payloads.ts';
import { openWorld, type World } from './world.ts';

const SECONDS_MAX = 240;
/** Takes the engine a while to fetch and to unpack. */
const LARGE_BYTES = 48 * 1024 * 1024;

let world: World;
let host: Host;

beforeAll(async () => {
  world = await openWorld();
  host = await world.openHost();
  host.agent.start();
});
afterAll(() => world?.close());

const running = async (): Promise<string[]> =>
  (await host.containers())
    .map(({ Labels, State }) => `${Labels['gpuaas.workload']} ${Labels['gpuaas.component']} ${State}`)
    .toSorted();

/** Its supervisor starts it again at once. */
async function killEngine(): Promise<void> {
  const before = world.engine().pid();
  if (before === undefined) throw new Error('The engine does not run.');
  process.kill(before, 'SIGKILL');
  await until(() => ![undefined, before].includes(world.engine().pid()), 'another engine', SECONDS_MAX);
}

const removeAll = (ids: string[]) =>
  host.run(
    ids.map((id) => host.taskOf('oci.remove', id, { workload_id: id, stop_grace_seconds: 2 })),
    SECONDS_MAX,
  );

test(
  'an engine that dies while it pulls is asked again when it is back',
  async () => {
    const more = { kind: 'file' as const, path: 'large', content: randomBytes(LARGE_BYTES) };
    const image = await world.platform.publish(makeImage({}, [more]), { name: 'large' });
    const id = randomUUID();
    const task = host.taskOf('oci.launch', id, launchOf(id, image));
    await host.send([task]);
    await until(() =>
      host.agent
        .steps()
        .some(({ label, about }) => label === 'step check_images_and_make_network' && about === task.id),
    );
    await killEngine();
    const [outcome] = await host.run([task], SECONDS_MAX);
    expect(outcome?.status, JSON.stringify(outcome)).toBe('succeeded');
    expect(await running()).toEqual([`${id} main running`]);
    await removeAll([id]);
    expect(await host.leftovers()).toEqual([]);
  },
  SECONDS_MAX * 1000,
);

test(
  'what ran comes back after the engine died, and after the whole host was started anew',
  async () => {
    const neighbour = await world.openNeighbour();
    const { Id } = (await neighbour()) as { Id: string };
    const [one, project, stopped] = [randomUUID(), randomUUID(), randomUUID()];
    const secrets = [{ handle: world.platform.keepSecret('secret'), path: '/run/secrets/token' }];
    const launches = [
      host.taskOf('oci.launch', one, launchOf(one, world.web, { secrets })),
      host.taskOf('compose.up', project, projectOf(project, world.web)),
      host.taskOf('oci.launch', stopped, launchOf(stopped, world.web)),
    ];
    for (const outcome of await host.run(launches, SECONDS_MAX)) expect(outcome.status).toBe('succeeded');
    const stop = host.taskOf('oci.control', stopped, { workload_id: stopped, action: 'stop' });
    expect((await host.run([stop], SECONDS_MAX))[0]?.status).toBe('succeeded');
    const wanted = [
      `${one} main running`,
      ...['data', 'front', 'work'].map((name) => `${project} ${name} running`),
      `${stopped} main exited`,
    ].toSorted();
    const isAsWanted = async (): Promise<boolean> =>
      (await running().catch(() => [])).join() === wanted.join();
    expect(await running()).toEqual(wanted);

    await killEngine();
    await until(isAsWanted, 'everything to be back after the engine died', SECONDS_MAX);
    await until(() => host.told(one).at(-1)?.state === 'ready', 'the platform to be told', SECONDS_MAX);

    await host.agent.end('SIGKILL');
    await world.reboot();
    // What lay in memory has gone with it.
    const memory = `/run/gpuaas-agent/${host.nodeId}`;
    if (existsSync(memory)) execFileSync('umount', ['--lazy', memory]);
    host.agent.start();
    await until(isAsWanted, 'everything to be back after the host was started anew', SECONDS_MAX);
    expect(((await neighbour()) as { Id: string }).Id).toBe(Id);

    for (const outcome of await removeAll([one, project, stopped])) expect(outcome.status).toBe('succeeded');
    expect(await host.leftovers()).toEqual([]);
  },
  SECONDS_MAX * 1000,
);
