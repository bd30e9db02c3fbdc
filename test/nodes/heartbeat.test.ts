import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWorse, statusBySilence } from '../../functions/nodes/heartbeat.ts';
import { heartbeatKey, nodeKey } from '../../functions/nodes/keys.ts';
import { nodeSweep } from '../../functions/nodes/sweep-nodes.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { runSweep } from '../../functions/platform/workflow/sweep.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { type Answer, openWorld, type World } from '../api/world.ts';
import { heartbeatOf } from './recipes.ts';

let world: World;
let scene: Scene;

beforeAll(async () => {
  world = await openWorld({ roughness: SMOOTH });
  scene = openScene(world);
});

afterAll(() => world.close());

const beat = (id: string, token: string, body: object): Promise<Answer> =>
  world.call('POST /api/v1/nodes/{node_id}/heartbeat', { params: { node_id: id }, body, token });

async function joinedNode() {
  const node = await scene.node();
  return { id: node.id, token: await scene.nodeToken(node) };
}

/** A run, so many seconds from now: the index shows everything by then. */
const sweep = async (seconds: number): Promise<void> => {
  await world.indexed();
  await runSweep({ ...createContext(newId()), now: () => secondsAfter(new Date(), seconds) }, nodeSweep);
};

const eventsOf = async (id: string) =>
  (await world.items('OUTBOX#'))
    .map(({ event }) => event as { type: string; data: { node_id: string } })
    .filter(({ data }) => data.node_id === id)
    .map(({ type }) => type);

describe('a heartbeat', () => {
  test('is one write and nothing else on a warm function', async () => {
    const { id, token } = await joinedNode();
    await beat(id, token, heartbeatOf());
    const sent: string[] = [];
    dynamo().middlewareStack.add(
      (next, { commandName }) =>
        (args) => (sent.push(String(commandName)), next(args)),
      { step: 'initialize', name: 'sentByHeartbeat' },
    );
    const before = await world.items('AUDIT#');
    expect((await beat(id, token, heartbeatOf())).body).toEqual({ heartbeat_seconds: 60 });
    dynamo().middlewareStack.remove('sentByHeartbeat');
    expect(sent).toEqual(['UpdateItemCommand']);
    expect(await world.items('AUDIT#')).toHaveLength(before.length);
  });

  test('tells what has changed, and what was told before stays', async () => {
    const { id, token } = await joinedNode();
    const run = newId();
    const started = new Date();
    await beat(id, token, { ...heartbeatOf(run, started), workloads: 2, problems: ['The disk is full'] });
    await beat(id, token, { ...heartbeatOf(run, started, 2), workloads: 3 });
    expect(await world.get(heartbeatKey(id))).toMatchObject({
      run_id: run,
      sequence: 2,
      workloads: 3,
      problems: ['The disk is full'],
    });
  });

  test('of a later run is taken: the agent was started again', async () => {
    const { id, token } = await joinedNode();
    await beat(id, token, heartbeatOf(newId(), new Date('2026-01-01T00:00:00.000Z')));
    const answer = await beat(id, token, heartbeatOf(newId(), new Date('2026-01-01T00:01:00.000Z')));
    expect(answer.status).toBe(200);
    expect(await world.get(nodeKey(id))).toMatchObject({ placement: 'open' });
  });
});

describe('a key that two agents speak with', () => {
  test('is noticed by the run that speaks after a later one; the node is cordoned, once', async () => {
    const { id, token } = await joinedNode();
    const early = heartbeatOf(newId(), new Date('2026-01-01T00:00:00.000Z'));
    const late = heartbeatOf(newId(), new Date('2026-01-01T00:01:00.000Z'));
    await beat(id, token, early);
    await beat(id, token, late);
    for (let again = 0; again < 3; again += 1) {
      const answer = await beat(id, token, { ...early, sequence: 2 + again });
      expect([answer.status, (answer.body as { code: string }).code]).toEqual([409, 'node.key_cloned']);
      expect((await beat(id, token, { ...late, sequence: 2 + again })).status).toBe(200);
    }
    expect(await eventsOf(id)).toEqual(['platform.node.key_cloned', 'platform.node.cordoned']);
    expect(await world.get(nodeKey(id))).toMatchObject({ status: 'ready', placement: 'cordoned' });
    const audits = (await world.items('AUDIT#')).filter(({ subject }) => subject === `node:${id}`);
    expect(audits).toMatchObject([
      {
        action: 'nodes.node.refuse_clone',
        actor: `node:${id}`,
        after: { run_id: early.run_id, later_run_id: late.run_id },
      },
    ]);
  });
});

describe('a silence', () => {
  const patience = { suspectSeconds: 180, lostSeconds: 600 };
  const at = '2026-01-01T00:00:00.000Z';

  test.each([
    [0, 'ready'],
    [179, 'ready'],
    [180, 'suspect'],
    [599, 'suspect'],
    [600, 'lost'],
    [100_000, 'lost'],
  ])('of %i seconds makes a node %s', (seconds, status) => {
    expect(statusBySilence({ at }, patience, secondsAfter(new Date(at), seconds))).toBe(status);
  });

  test.each([
    ['suspect', 'ready', true],
    ['lost', 'ready', true],
    ['lost', 'suspect', true],
    ['suspect', 'lost', false],
    ['suspect', 'suspect', false],
    ['lost', 'pending', false],
    ['lost', 'removed', false],
  ] as const)('that says %s of a node that is %s counts: %s', (found, known, expected) => {
    expect(isWorse(found, known)).toBe(expected);
  });

  test('makes a node suspect, then lost, once each; a heartbeat brings it back', async () => {
    const { id, token } = await joinedNode();
    await sweep(170);
    expect(await eventsOf(id)).toEqual([]);
    await sweep(190);
    await sweep(200);
    expect(await world.get(nodeKey(id))).toMatchObject({ status: 'suspect' });
    await sweep(700);
    await sweep(710);
    expect(await world.get(nodeKey(id))).toMatchObject({ status: 'lost' });
    expect(await eventsOf(id)).toEqual(['platform.node.suspect', 'platform.node.lost']);

    expect((await beat(id, token, heartbeatOf())).status).toBe(200);
    expect((await beat(id, token, heartbeatOf())).status).toBe(200);
    expect(await world.get(nodeKey(id))).toMatchObject({ status: 'ready' });
    expect((await eventsOf(id)).slice(2)).toEqual(['platform.node.recovered']);
    const audits = (await world.items('AUDIT#')).filter(({ subject }) => subject === `node:${id}`);
    expect(audits.map(({ actor, action }) => [actor, action])).toEqual([
      ['platform:node-sweep', 'nodes.node.mark_silent'],
      ['platform:node-sweep', 'nodes.node.mark_silent'],
      [`node:${id}`, 'nodes.node.recover'],
    ]);
  });

  test('that a heartbeat ends at the same moment is none', async () => {
    const { id, token } = await joinedNode();
    let isFirst = true;
    dynamo().middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          // Others' silence is noticed by the same sweep.
          const isAbout = JSON.stringify(args.input).includes(id);
          if (commandName === 'TransactWriteItemsCommand' && isAbout && isFirst) {
            isFirst = false;
            await world.set(heartbeatKey(id), 'at', secondsAfter(new Date(), 190).toISOString());
          }
          return next(args);
        },
      { step: 'initialize', name: 'heartbeatMeanwhile' },
    );
    await sweep(190);
    dynamo().middlewareStack.remove('heartbeatMeanwhile');
    expect(isFirst).toBe(false);
    expect(await world.get(nodeKey(id))).toMatchObject({ status: 'ready' });
    expect(token).toBeDefined();
  });

  test('of a host that is yet to join means nothing', async () => {
    const { id } = await scene.node({ isPending: true });
    await sweep(10_000);
    expect(await world.get(nodeKey(id))).toMatchObject({ status: 'pending' });
  });
});
