import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { answerSmoke } from '../../functions/catalog/answer-smoke.ts';
import { versionCounterKey } from '../../functions/catalog/keys.ts';
import { subjectOfPromotion } from '../../functions/catalog/version-promotion.ts';
import { promotionKey } from '../../functions/promotion/keys.ts';
import type { Promotion } from '../../functions/promotion/promotion.ts';
import { publishVersion } from '../../functions/catalog/publish-version.ts';
import { retireVersion } from '../../functions/catalog/retire-version.ts';
import type { Version } from '../../functions/catalog/version.ts';
import { newId } from '../../functions/platform/ids.ts';
import { putItem, updateItem } from '../../functions/platform/data/table.ts';
import { errorNamed } from '../local/step-functions/step-functions-world.ts';
import { until } from '../until.ts';
import { HARMLESS, openPromotionWorld, type PromotionWorld, tallied, taskStates } from './promotion-world.ts';
import { releaseVersion } from '../catalog/released.ts';

// The real machine with the real functions, disturbed at every step: the end is the same, and nothing was done twice.

let world: PromotionWorld;

beforeAll(async () => {
  world = await openPromotionWorld();
});
afterEach(async () => {
  world.around((_, run) => run());
  await world.renew();
});
afterAll(() => world.close());

const ALL_PASSED = [
  'ChooseStart',
  'PassGate',
  'GoOnFromThere',
  'AwaitSmokeVerdict',
  'StageSubject',
  'StopAtStaged',
  'BeginCanary',
  'StopAtCanary',
  'WaitForBake',
  'ActivateSubject',
  'WeighCanary',
  'PromotionDone',
];
const ALL_RETIRED = [
  'ChooseStart',
  'WaitForGrace',
  'RetireSubject',
  'WeighRetirement',
  'AwaitLastInstance',
  'RetireSubject',
  'WeighRetirement',
  'PromotionDone',
];

const PUBLISHED_BY = taskStates(ALL_PASSED);
const RETIRED_BY = taskStates(ALL_RETIRED);

/** What the audit and the events tell of a version that came all the way, and of the one it superseded. */
const PUBLISHED = {
  audit: {
    'catalog.version.publish': 1,
    'catalog.version.request_smoke': 1,
    'catalog.version.answer_smoke': 1,
    'catalog.version.stage': 1,
    'catalog.version.begin_canary': 1,
    // Two rows of one change.
    'catalog.version.activate': 2,
  },
  events: {
    'apps.version.promotion_requested': 1,
    'apps.version.smoke_requested': 1,
    'apps.version.smoke_answered': 1,
    'apps.version.staged': 1,
    'apps.version.canary_began': 1,
    'apps.version.activated': 1,
    'apps.version.deprecated': 1,
  },
};

const RETIRED = {
  audit: { 'catalog.version.retire': 1, 'catalog.version.end_retirement': 1 },
  events: { 'apps.version.promotion_requested': 1, 'apps.version.retired': 1 },
};

async function told(slug: string) {
  return {
    audit: tallied((await world.auditOf(slug)).map(({ action }) => String(action))),
    events: tallied((await world.eventsOf(slug)).map(({ type }) => type)),
  };
}

interface Published {
  old: Version;
  version: Version;
  operationId: string;
}

/** A version beside one that is active, asked to be published. */
async function askToPublish(): Promise<Published> {
  const old = await releaseVersion({ status: 'active' });
  const version = await releaseVersion({ slug: old.app_slug, version: '2.0.0' });
  const body = { reason: 'It is better.', bake_seconds: 0 };
  const { operation_id } = await world.ask(publishVersion, version, body);
  await world.relay(version.app_slug);
  return { old, version, operationId: String(operation_id) };
}

/** Passes the smoke run as soon as it is asked for, unless the promotion ends before. */
async function passSmoke(version: Version): Promise<void> {
  const { step } = await settled(version, 'awaiting_smoke');
  if (step === 'ended') return;
  await world.ask(answerSmoke, version, { verdict: 'passed' });
  await world.relay(version.app_slug);
}

/** The promotion once it is at the step, or at its end. */
async function settled(version: Version, step: Promotion['step']): Promise<Promotion> {
  return until(async () => {
    const { promotion } = await world.find(version);
    return (promotion?.step === step || promotion?.step === 'ended') && promotion;
  }, `${version.app_slug} to come to “${step}”`);
}

async function publish(): Promise<Published & Awaited<ReturnType<PromotionWorld['execution']>>> {
  const asked = await askToPublish();
  await passSmoke(asked.version);
  // A step that was asked for again has another token, which the sweep answers.
  await until(async () => {
    await world.sweep();
    return (await world.find(asked.version)).promotion?.step === 'ended';
  }, 'the promotion to end');
  return { ...asked, ...(await world.execution(asked.operationId)) };
}

async function endOf(version: Version, operationId: string) {
  await settled(version, 'ended');
  return world.execution(operationId);
}

async function expectPublished({ old, version }: Published): Promise<void> {
  const after = await world.find(version);
  expect(after.version.status).toBe('active');
  expect((await world.find(old)).version).toMatchObject({
    status: 'deprecated',
    retire_after: expect.any(String) as string,
  });
  expect(after.app.versions).toMatchObject({
    [version.version]: { status: 'active' },
    [old.version]: { status: 'deprecated' },
  });
  expect(after.promotion).toMatchObject({ status: 'succeeded', step: 'ended' });
  expect(after.promotion).not.toHaveProperty('task_token');
  expect(await told(version.app_slug)).toEqual(PUBLISHED);
}

const setInstances = ({ app_slug, version }: Version, count: number) =>
  putItem({ ...versionCounterKey(app_slug, version), count });

async function retire(): Promise<Awaited<ReturnType<PromotionWorld['execution']>> & { version: Version }> {
  const version = await releaseVersion({ status: 'deprecated' });
  const { operation_id } = await world.ask(retireVersion, version, { reason: 'Nobody needs it.' });
  // Somebody goes back to it while it is on its way out.
  await setInstances(version, 1);
  await world.relay(version.app_slug);
  const { step } = await settled(version, 'awaiting_last_instance');
  if (step !== 'ended') {
    await setInstances(version, 0);
    await until(async () => {
      await world.sweep();
      return (await world.find(version)).promotion?.step === 'ended';
    }, 'the retirement to end');
  }
  return { version, ...(await endOf(version, String(operation_id))) };
}

async function expectRetired(version: Version): Promise<void> {
  const { app, version: after, promotion } = await world.find(version);
  expect(after).toMatchObject({ status: 'retired', retired_at: expect.any(String) as string });
  expect(app.versions).toEqual({});
  expect(promotion).toMatchObject({ status: 'succeeded' });
  expect(await told(version.app_slug)).toEqual(RETIRED);
}

describe('a promotion', () => {
  test('takes a version from draft to active, entering every state of its way once and none while it waits', async () => {
    const published = await askToPublish();
    await passSmoke(published.version);
    const { status, states } = await endOf(published.version, published.operationId);
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(ALL_PASSED);
    await expectPublished(published);
  });

  test('whose smoke run failed has failed, and says so in the words of who ran it', async () => {
    const { version, operationId } = await askToPublish();
    await world.promotionAt(version, 'awaiting_smoke');
    await world.ask(answerSmoke, version, { verdict: 'failed', notes: 'The port stays closed.' });
    await world.relay(version.app_slug);
    const { status, states } = await endOf(version, operationId);
    expect(status).toBe('FAILED');
    expect(states.at(-1)).toBe('PromotionFailed');
    const after = await world.find(version);
    expect(after.version.status).toBe('draft');
    expect(after.promotion).toMatchObject({
      status: 'failed',
      error: { code: 'promotion.smoke_failed', detail: 'The port stays closed.' },
      gates: { smoke: { verdict: 'failed' } },
    });
  });

  test('whose verdict never reached the workflow is answered by the sweep', async () => {
    const { version, operationId, old } = await askToPublish();
    await world.promotionAt(version, 'awaiting_smoke');
    await world.ask(answerSmoke, version, { verdict: 'passed' });
    await world.sweep();
    expect((await endOf(version, operationId)).status).toBe('SUCCEEDED');
    await expectPublished({ old, version, operationId });
  });

  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

  /** So that the stream has had its time to start it. */
  const setPast = ({ app_slug, version }: Version) =>
    updateItem(promotionKey(subjectOfPromotion(app_slug, version)), {
      update: 'SET requested_at = :past',
      condition: 'attribute_exists(pk)',
      values: { ':past': new Date(Date.now() - 120_000).toISOString() },
    });

  test.each<[string, (version: Version) => Promise<unknown>]>([
    ['an event', ({ app_slug }) => world.relay(app_slug)],
    ['the sweep', async (version) => (await setPast(version), world.sweep())],
  ])('that %s starts goes on in the trace of whoever asked, which it tells nobody', async (_, start) => {
    const version = await releaseVersion();
    const by = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
    const asked = await world.ask(publishVersion, version, { reason: 'It is better.' }, by);
    await start(version);
    await world.promotionAt(version, 'awaiting_smoke');
    const events = await world.eventsOf(version.app_slug);
    expect(events.map(({ type, traceparent }) => [type, traceparent?.split('-')[1]])).toEqual([
      ['apps.version.promotion_requested', TRACE],
      ['apps.version.smoke_requested', TRACE],
    ]);
    expect(JSON.stringify([asked, await world.auditOf(version.app_slug)])).not.toContain(TRACE);
  });
});

describe('a retirement', () => {
  test('waits for the last instance, and enters every state of its way once', async () => {
    const { version, status, states } = await retire();
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(ALL_RETIRED);
    await expectRetired(version);
  });
});

describe.each(HARMLESS)('a step that %s', (_, how) => {
  test.each(PUBLISHED_BY)('changes nothing about a promotion: %s', async (state) => {
    world.disturb(state, how);
    const { status, states, ...published } = await publish();
    await world.crashes();
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(ALL_PASSED);
    await expectPublished(published);
  });

  test.each(RETIRED_BY)('changes nothing about a retirement: %s', async (state) => {
    world.disturb(state, how);
    const { version, status, states } = await retire();
    await world.crashes();
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(ALL_RETIRED);
    await expectRetired(version);
  });
});

const STATUS_BEFORE: Record<string, Version['status']> = {
  PassGate: 'draft',
  AwaitSmokeVerdict: 'draft',
  StageSubject: 'draft',
  BeginCanary: 'staged',
  ActivateSubject: 'canary',
  RetireSubject: 'deprecated',
  AwaitLastInstance: 'deprecated',
};

describe('a step that fails for good', () => {
  const fails = () => Promise.reject(errorNamed('TypeError', 'secret inner workings'));

  test.each(PUBLISHED_BY)('ends the promotion and leaves the version as it is: %s', async (state) => {
    world.disturb(state, fails);
    const { status, version, states, old } = await publish();
    expect(status).toBe('FAILED');
    expect(states.slice(-2)).toEqual(['FailPromotion', 'PromotionFailed']);
    const after = await world.find(version);
    expect(after.version.status).toBe(STATUS_BEFORE[state]);
    expect(after.app.versions[version.version]?.status).toBe(STATUS_BEFORE[state]);
    expect((await world.find(old)).version.status).toBe('active');
    expect(after.promotion).toMatchObject({ status: 'failed', error: { code: 'internal' } });
    expect(JSON.stringify(after.promotion)).not.toContain('secret');
    const { audit, events } = await told(version.app_slug);
    expect(audit['catalog.version.fail_promotion']).toBe(1);
    expect(events['apps.version.promotion_failed']).toBe(1);
  });

  test.each(RETIRED_BY)('ends the retirement and leaves the version as it is: %s', async (state) => {
    world.disturb(state, fails);
    const { status, version } = await retire();
    expect(status).toBe('FAILED');
    const after = await world.find(version);
    expect(after.version.status).toBe('deprecated');
    expect(after.promotion).toMatchObject({ status: 'failed' });
  });

  test('after it has reached the target changes nothing any more', async () => {
    world.disturb('ActivateSubject', async (run) => {
      await run();
      throw errorNamed('TypeError');
    });
    const { status, ...published } = await publish();
    expect(status).toBe('FAILED');
    await expectPublished(published);
  });

  test('and cannot even be written down is left to the sweep, which ends it', async () => {
    world.around((state, run) => (state === 'StageSubject' || state === 'FailPromotion' ? fails() : run()));
    const { version, operationId } = await askToPublish();
    await passSmoke(version);
    expect((await world.execution(operationId)).states.slice(-2)).toEqual([
      'FailPromotion',
      'PromotionFailed',
    ]);
    expect((await world.find(version)).promotion).toMatchObject({ status: 'running' });
    await updateItem(promotionKey(subjectOfPromotion(version.app_slug, version.version)), {
      update: 'SET deadline_at = :past',
      condition: 'attribute_exists(pk)',
      values: { ':past': '2026-01-01T00:00:00.000Z' },
    });
    await world.sweep();
    await world.sweep();
    expect((await world.find(version)).promotion).toMatchObject({
      status: 'failed',
      error: { code: 'promotion.stalled' },
    });
    expect((await told(version.app_slug)).audit['catalog.version.fail_promotion']).toBe(1);
  });
});

test('a request for the smoke run that comes late finds the promotion gone on, and leaves it there', async () => {
  const version = await releaseVersion({ status: 'canary' });
  const { operation_id } = await world.ask(publishVersion, version, { reason: 'It is better.' });
  const before = await world.find(version);
  expect(before.promotion?.step).toBe('baking');
  const { handler } = await import('../../functions/catalog/run-promotion-step.ts');
  const subject = subjectOfPromotion(version.app_slug, version.version);
  await handler({ run: 'request_smoke', subject, operation_id, task_token: 'late' });
  expect(await world.find(version)).toEqual(before);
});

describe('a step of an operation that is over', () => {
  test('changes nothing and ends quietly', async () => {
    const version = await releaseVersion({ status: 'canary' });
    const before = await world.find(version);
    const { handler } = await import('../../functions/catalog/run-promotion-step.ts');
    const subject = subjectOfPromotion(version.app_slug, version.version);
    const step = { run: 'advance', subject, correlation_id: 'look-1' };
    for (const to of ['staged', 'canary', 'active', 'retired'])
      expect(await handler({ ...step, operation_id: newId(), to })).toMatchObject({ decision: 'over' });
    expect(await world.find(version)).toEqual(before);
    expect(await told(version.app_slug)).toEqual({ audit: {}, events: {} });
  });
});
