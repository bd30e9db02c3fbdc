import { decideMove, findRelease } from '../../functions/catalog/keep-release.ts';
import { versionCounterKey, versionKey } from '../../functions/catalog/keys.ts';
import { publishVersion } from '../../functions/catalog/publish-version.ts';
import { rollBackVersion } from '../../functions/catalog/roll-back-version.ts';
import type { Version } from '../../functions/catalog/version.ts';
import { createContext } from '../../functions/platform/context.ts';
import { commitDecision } from '../../functions/platform/data/change.ts';
import { commit, Conflict, requireThat, sameAs } from '../../functions/platform/data/commit.ts';
import { addTo, countIn } from '../../functions/platform/data/counters.ts';
import { projectCounterKey } from '../../functions/platform/data/keys.ts';
import { readItem } from '../../functions/platform/data/table.ts';
import { newId } from '../../functions/platform/ids.ts';
import { releaseVersion } from './released.ts';
import { openPromotionWorld, type PromotionWorld } from '../promotion/promotion-world.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const LAUNCHES = 20;

let world: PromotionWorld;
beforeAll(async () => {
  world = await openPromotionWorld();
});
afterAll(() => world.close());

/** What a launch writes about the version and the project it is of. */
const launch = (project: string, { app_slug, version, status }: Version) =>
  commitDecision(createContext(newId()), 'apps.instance.create', async () => ({
    subject: `instance:${newId()}`,
    actor: { kind: 'user', id: 'somebody' },
    writes: [
      requireThat(versionKey(app_slug, version), sameAs({ status })),
      addTo(versionCounterKey(app_slug, version), 1),
      addTo(projectCounterKey(project), 1),
    ],
  }));

const launches = (project: string, version: Version) =>
  Promise.all(Array.from({ length: LAUNCHES }, () => launch(project, version)));

describe('launches that count themselves', () => {
  test('at the same moment, in one project, of one version, all succeed and are all counted', async () => {
    const project = newId();
    const version = await releaseVersion({ status: 'active' });
    await launches(project, version);
    expect((await findRelease(version)).instance_count).toBe(LAUNCHES);
    expect(countIn(await readItem(projectCounterKey(project)))).toBe(LAUNCHES);
  });

  test('make no promotion fail that begins meanwhile', async () => {
    const version = await releaseVersion({ status: 'canary' });
    const [promotion] = await Promise.all([
      world.ask(publishVersion, version, { reason: 'It is better.' }),
      launches(newId(), version),
    ]);
    expect(promotion).toMatchObject({ status: 'running', target: 'active' });
    expect((await findRelease(version)).instance_count).toBe(LAUNCHES);
  });

  test('make no rollback fail: it comes through between them, and none is lost', async () => {
    const version = await releaseVersion({ status: 'canary' });
    const settled = Promise.allSettled(Array.from({ length: LAUNCHES }, () => launch(newId(), version)));
    expect(await world.ask(rollBackVersion, version, { reason: 'It fails.' })).toMatchObject({
      status: 'staged',
    });
    const succeeded = (await settled).filter(({ status }) => status === 'fulfilled');
    expect((await findRelease(version)).instance_count).toBe(succeeded.length);
  });

  test('keep a version from being retired that nobody used when it was looked at', async () => {
    const version = await releaseVersion({ status: 'deprecated' });
    const { decision } = decideMove(await findRelease(version), { to: 'retired' }, undefined, new Date());
    await launch(newId(), version);
    await expect(commit(decision.writes)).rejects.toBeInstanceOf(Conflict);
    expect((await findRelease(version)).version.status).toBe('deprecated');
  });
});
