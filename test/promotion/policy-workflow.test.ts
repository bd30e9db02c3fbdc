import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answerSmoke } from '../../functions/catalog/answer-smoke.ts';
import { publishVersion } from '../../functions/catalog/publish-version.ts';
import { putPromotionPolicy } from '../../functions/catalog/put-promotion-policy.ts';
import { subjectOfPromotion } from '../../functions/catalog/version-promotion.ts';
import type { Version } from '../../functions/catalog/version.ts';
import { updateItem } from '../../functions/platform/data/table.ts';
import { promotionKey } from '../../functions/promotion/keys.ts';
import { releaseVersion } from '../catalog/released.ts';
import { errorNamed } from '../local/step-functions/step-functions-world.ts';
import { HARMLESS, openPromotionWorld, type PromotionWorld, tallied, taskStates } from './promotion-world.ts';

// The real machine with the real functions, under the policies a platform may set.

let world: PromotionWorld;

beforeAll(async () => {
  world = await openPromotionWorld();
});
beforeEach(() => setPolicy(DEVELOPMENT));
afterEach(async () => {
  world.around((_, run) => run());
  await world.renew();
});
afterAll(() => world.close());

const GRACE_SECONDS = 60;
/** As on a development machine. */
const DEVELOPMENT = {
  smoke: { gate: 'automatic' },
  versions: { bake_seconds: 0 },
  grace_seconds: GRACE_SECONDS,
};

const setPolicy = (policy: object) =>
  world.ask(putPromotionPolicy, {}, { ...policy, reason: 'A machine of our own.' });

const ALL_PASSED = [
  'ChooseStart',
  'PassGate',
  'GoOnFromThere',
  'StageSubject',
  'StopAtStaged',
  'BeginCanary',
  'StopAtCanary',
  'WaitForBake',
  'ActivateSubject',
  'WeighCanary',
  'PromotionDone',
];

interface Published {
  old: Version;
  version: Version;
  operationId: string;
}

/** A version beside one that is active, asked to be published as the policy has it. */
async function askToPublish(body: object = {}): Promise<Published> {
  const old = await releaseVersion({ status: 'active' });
  const version = await releaseVersion({ slug: old.app_slug, version: '2.0.0' });
  const { operation_id } = await world.ask(publishVersion, version, body);
  return { old, version, operationId: String(operation_id) };
}

async function publish(): Promise<Published & Awaited<ReturnType<PromotionWorld['execution']>>> {
  const asked = await askToPublish();
  await world.relay(asked.version.app_slug);
  return { ...asked, ...(await world.execution(asked.operationId)) };
}

async function expectPublished({ old, version }: Published): Promise<void> {
  const { version: after, promotion } = await world.find(version);
  expect(after.status).toBe('active');
  expect(promotion).toMatchObject({
    status: 'succeeded',
    smoke: { gate: 'automatic' },
    gates: {
      lint: { verdict: 'passed' },
      smoke: {
        verdict: 'passed',
        by: 'platform:promotion-policy',
        notes: expect.stringContaining('No smoke command was run') as string,
      },
    },
  });
  const { status, deprecated_at = '', retire_after = '' } = (await world.find(old)).version;
  expect(status).toBe('deprecated');
  expect(Date.parse(retire_after) - Date.parse(deprecated_at)).toBe(GRACE_SECONDS * 1000);
  expect(tallied((await world.auditOf(version.app_slug)).map(({ action }) => String(action)))).toEqual({
    'catalog.version.publish': 1,
    'catalog.version.stage': 1,
    'catalog.version.begin_canary': 1,
    // Two rows of one change.
    'catalog.version.activate': 2,
  });
}

describe('a promotion with an automatic gate and no bake', () => {
  test('takes a version from draft to active without anybody, entering every state of its way once', async () => {
    const { status, states, ...published } = await publish();
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(ALL_PASSED);
    await expectPublished(published);
  });

  test('says in the audit which gate applied', async () => {
    const { version } = await askToPublish();
    const [row] = await world.auditOf(version.app_slug);
    expect(row).toMatchObject({ action: 'catalog.version.publish', after: { smoke: { gate: 'automatic' } } });
  });

  test('does not take a smoke report that nobody asked for', async () => {
    const { version } = await publish();
    const answered = world.ask(answerSmoke, version, { verdict: 'failed' });
    await expect(answered).rejects.toMatchObject({ code: 'promotion.not_waiting' });
  });

  test.each(HARMLESS)('comes to the same end after a step that %s', async (_, how) => {
    for (const state of taskStates(ALL_PASSED)) {
      world.disturb(state, how);
      const { status, states, ...published } = await publish();
      await world.crashes();
      expect([state, status]).toEqual([state, 'SUCCEEDED']);
      expect(states).toEqual(ALL_PASSED);
      await expectPublished(published);
    }
  });

  test('that no event started is started by the sweep, and ended by it where it hangs', async () => {
    const { version, operationId, old } = await askToPublish();
    await set(version, 'requested_at');
    await world.sweep();
    expect((await world.execution(operationId)).states).toEqual(ALL_PASSED);
    await expectPublished({ old, version, operationId });

    world.around((state, run) =>
      state === 'StageSubject' || state === 'FailPromotion' ? Promise.reject(errorNamed('TypeError')) : run(),
    );
    const { version: stuck } = await publish();
    expect((await world.find(stuck)).promotion).toMatchObject({ status: 'running', step: 'staging' });
    await set(stuck, 'deadline_at');
    await world.sweep();
    expect((await world.find(stuck)).promotion).toMatchObject({
      status: 'failed',
      error: { code: 'promotion.stalled' },
    });
  });
});

/** Lets a time of the promotion lie a little in the past. */
const set = ({ app_slug, version }: Version, member: string) =>
  updateItem(promotionKey(subjectOfPromotion(app_slug, version)), {
    update: 'SET #member = :past',
    condition: 'attribute_exists(pk)',
    names: { '#member': member },
    values: { ':past': new Date(Date.now() - 120_000).toISOString() },
  });

describe('a policy that changes while a promotion is under way', () => {
  const PERSON = { smoke: { gate: 'person' }, grace_seconds: 7200 };

  test('does not make it wait for a person', async () => {
    const published = await askToPublish();
    await setPolicy(PERSON);
    await world.relay(published.version.app_slug);
    expect((await world.execution(published.operationId)).states).toEqual(ALL_PASSED);
    await expectPublished(published);
  });

  test('does not let it past the person it waits for', async () => {
    await setPolicy(PERSON);
    const { version, old, operationId } = await askToPublish({ bake_seconds: 0 });
    await setPolicy(DEVELOPMENT);
    await world.relay(version.app_slug);
    const { smoke, gates } = await world.promotionAt(version, 'awaiting_smoke');
    expect({ smoke, gates }).toMatchObject({ smoke: { gate: 'person' }, gates: {} });
    await world.ask(answerSmoke, version, { verdict: 'passed' });
    await world.relay(version.app_slug);
    expect((await world.execution(operationId)).status).toBe('SUCCEEDED');
    const { deprecated_at = '', retire_after = '' } = (await world.find(old)).version;
    expect(Date.parse(retire_after) - Date.parse(deprecated_at)).toBe(7200 * 1000);
  });
});
