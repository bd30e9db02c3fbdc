import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Project } from '../../functions/identity/project.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { runSweep } from '../../functions/platform/workflow/sweep.ts';
import { intentExpiry } from '../../functions/publishing/expire-intents.ts';
import { intentKey } from '../../functions/publishing/keys.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { announce } from './recipes-publish.ts';

let world: World;
let scene: Scene;
let project: Project;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  ({ project } = await scene.place());
});

afterAll(() => world.close());

/** A run, so many seconds from now: the index shows everything by then. */
const expire = async (seconds: number): Promise<void> => {
  await world.indexed();
  await runSweep({ ...createContext(newId()), now: () => secondsAfter(new Date(), seconds) }, intentExpiry);
};

const DAY = 24 * 3600;

const auditsOf = async (id: string) =>
  (await world.items('AUDIT#')).filter(({ subject }) => subject === `publish_intent:${id}`);

test('a publish intent ends when its time is over, and leaves no token', async () => {
  const { intent } = await announce(scene, project);
  const key = intentKey(intent.id);
  await expire(3600);
  expect(await world.get(key)).toMatchObject({ status: 'open' });
  await expire(DAY + 3600);
  await expire(DAY + 3600);
  const ended = await world.get(key);
  expect(ended).toMatchObject({ status: 'expired' });
  for (const gone of ['gsi1pk', 'gsi1sk', 'token_hash']) expect(ended).not.toHaveProperty(gone);
  expect(await auditsOf(intent.id)).toMatchObject([
    {
      action: 'artifacts.intent.expire',
      actor: 'platform:intent-expiry',
      org_id: project.org_id,
      project_id: project.id,
    },
  ]);
});

test('a credential that is unwrapped at the last moment stays unwrapped', async () => {
  const { intent } = await announce(scene, project);
  const key = intentKey(intent.id);
  let hasCome = false;
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const isOurs = JSON.stringify(args.input).includes(intent.id);
        if (commandName === 'TransactWriteItemsCommand' && isOurs && !hasCome) {
          hasCome = true;
          await world.set(key, 'status', 'unwrapped');
        }
        return next(args);
      },
    { step: 'initialize', name: 'unwrapInBetween' },
  );
  await expire(DAY + 3600);
  dynamo().middlewareStack.remove('unwrapInBetween');
  expect(hasCome).toBe(true);
  expect(await world.get(key)).toMatchObject({ status: 'unwrapped' });
  expect(await auditsOf(intent.id)).toEqual([]);
});

test('an intent that cannot be ended keeps none of the others waiting', async () => {
  const { intent: broken } = await announce(scene, project, { open_until: '2026-01-01T00:00:00.000Z' });
  const { intent: well } = await announce(scene, project);
  await world.set(intentKey(broken.id), 'org_id', 7);
  await expire(DAY + 3600);
  expect(await world.get(intentKey(well.id))).toMatchObject({ status: 'expired' });
  await world.set(intentKey(broken.id), 'org_id', project.org_id);
});
