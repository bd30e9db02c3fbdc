// Hostile tasks, delivered to an agent with a real engine: whatever they say, nothing of it exists afterwards.

import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { runTask, type TaskRunner } from '../../../agent/runner/run-task.ts';
import { performersOf, silent } from '../a-task.ts';
import { BODY_CASES } from '../runner/hostile-tasks/bodies.ts';
import { bodyOf, NODE_ID, NOW, TASK_ID } from '../runner/hostile-tasks/case.ts';
import { FIELD_CASES } from '../runner/hostile-tasks/fields.ts';
import { TOGETHER_CASES } from '../runner/hostile-tasks/together.ts';
import { makeImage } from './busybox-image.ts';
import { type ContainerInput, type EngineWorld, failureOf, openEngineWorld } from './world.ts';

let world: EngineWorld;
beforeAll(async () => {
  world = await openEngineWorld();
});
afterAll(() => world.close());

/** Everything on the engine, whoever's it is. */
async function everything(): Promise<string[]> {
  const { docker } = world;
  const containers = await docker.listContainers({ all: true });
  const networks = await docker.listNetworks();
  const images = await docker.listImages({ all: true });
  const { Volumes } = await docker.listVolumes();
  return [...containers, ...networks, ...images]
    .map(({ Id }) => Id)
    .concat(Volumes.map(({ Name }) => Name))
    .toSorted();
}

describe('what is refused when it is read', () => {
  let journal: Journal;
  beforeAll(() => {
    journal = openJournal(mkdtempSync(join(world.dataDir, 'journal-')), () => NOW);
  });
  afterAll(() => journal.close());

  test('is answered, and has no effect on the engine', async () => {
    const runner: TaskRunner = {
      nodeId: NODE_ID,
      journal,
      performers: performersOf(world.agent.performers),
      log: silent,
      now: () => NOW,
      tellProgress: silent,
    };
    const before = await everything();
    const never = new AbortController().signal;
    for (const hostile of [...FIELD_CASES, ...TOGETHER_CASES]) {
      const id = randomUUID();
      await runTask(runner, bodyOf(hostile).replace(TASK_ID, id), never);
      const { code = 'invalid_payload' } = hostile;
      expect(journal.tasks.find(id)?.outcome, hostile.name).toMatchObject({ status: 'refused', code });
    }
    const answered = journal.reports.list(10_000).length;
    for (const [, body] of BODY_CASES) expect(await runTask(runner, body, never)).toBe('answered');
    expect(journal.reports.list(10_000)).toHaveLength(answered);
    expect(await world.leftovers()).toEqual([]);
    expect(await everything()).toEqual(before);
  });
});

describe('what is well written, but not for this host', () => {
  const mine = { project_id: randomUUID() };
  const volume = { id: randomUUID(), kind: 'persistent' as const };
  const scratch = { id: randomUUID(), kind: 'scratch' as const };
  const foreignVolume = randomUUID();
  let there: string;
  let before: string[];

  beforeAll(async () => {
    const mounts = [{ volume_id: scratch.id, path: '/workspace' as const }];
    const launch = world.launchOf(world.container({ mounts }), { ...mine, volumes: [scratch] });
    there = launch.workload_id;
    await world.run('oci.launch', launch);
    await world.run('volume.create', { ...mine, volume });
    await world.docker.createVolume({ Name: `gpuaas-${foreignVolume}` });
  });
  beforeEach(async () => {
    before = await everything();
  });

  const mounting = (mounted: { id: string; kind: string }, change: object = {}) =>
    launching({ mounts: [{ volume_id: mounted.id, path: '/data' }] }, { volumes: [mounted], ...change });
  const launching = (container: Partial<ContainerInput>, change: object = {}) =>
    world.run('oci.launch', world.launchOf(world.container(container), change));

  const CASES: [name: string, code: string, ask: () => Promise<unknown>][] = [
    [
      'an image of another registry',
      'signature_rejected',
      () => launching({ repository: 'evil.example.com/app' }),
    ],
    [
      'an image of another team',
      'signature_rejected',
      () => launching({ repository: 'gpuaas/apps/other/web' }),
    ],
    [
      'an image nobody assigned',
      'signature_rejected',
      () => launching({ digest: `sha256:${'0'.repeat(64)}` }),
    ],
    ['the volume of another project', 'volume_unknown', () => mounting(volume)],
    ['the same volume as scratch', 'volume_unknown', () => mounting({ ...volume, kind: 'scratch' }, mine)],
    ['the scratch volume of another workload', 'volume_unknown', () => mounting(scratch, mine)],
    [
      'a volume of somebody else',
      'volume_unknown',
      () => mounting({ id: foreignVolume, kind: 'persistent' }),
    ],
    [
      'a port of the host itself',
      'invalid_payload',
      () => launching({ ports: [{ container: 8080, host: 22 }] }),
    ],
    [
      'a secret of another host',
      'secret_unavailable',
      () => launching({ secrets: [secret('s'.repeat(43))] }),
    ],
    [
      'the GPU of another host',
      'gpu_unavailable',
      () => launching({ resources: { gpu_uuids: [`GPU-${randomUUID()}`] } }),
    ],
    ['root without being remapped', 'root_refused', () => launching({ root: true })],
    ['the workload of another project', 'workload_exists', () => launching({}, { workload_id: there })],
    [
      'logs of a workload elsewhere',
      'workload_unknown',
      () => world.run('logs.read', { workload_id: randomUUID() }),
    ],
    ['a stop of a workload elsewhere', 'workload_unknown', () => control(randomUUID())],
    [
      'the end of a volume of somebody else',
      'volume_unknown',
      () => world.run('volume.remove', { volume_id: foreignVolume }),
    ],
    [
      'the end of a volume in use',
      'volume_in_use',
      () => world.run('volume.remove', { volume_id: scratch.id }),
    ],
    [
      'a trust policy of tomorrow',
      'trust_unavailable',
      () => {
        const launch = world.launchOf(world.container());
        return world.perform(world.taskOf('oci.launch', launch, { trust_revision: 1000 }));
      },
    ],
  ];

  const secret = (handle: string) => ({ handle, path: '/run/secrets/token' });
  const control = (workload_id: string) => world.run('oci.control', { workload_id, action: 'stop' });

  test.each(CASES)('%s: %s', async (_, code, ask) => {
    expect(await failureOf(ask())).toMatchObject({ code });
    expect(await everything()).toEqual(before);
  });

  test('an image that runs as root: root_refused', async () => {
    const image = await world.platform.publish(makeImage({ User: '0' }), { name: 'root' });
    expect(await failureOf(launching(image))).toMatchObject({ code: 'root_refused' });
    expect(await world.leftovers()).toHaveLength(6);
  });
});
