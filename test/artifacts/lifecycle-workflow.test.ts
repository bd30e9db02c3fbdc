import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { subjectOfPromotion } from '../../functions/artifacts/artifact-promotion.ts';
import { promotionKey } from '../../functions/promotion/keys.ts';
import { promoteArtifact } from '../../functions/artifacts/promote-artifact.ts';
import { retireArtifact } from '../../functions/artifacts/retire-artifact.ts';
import { revokeArtifact } from '../../functions/artifacts/revoke-artifact.ts';
import { rollBackArtifact } from '../../functions/artifacts/roll-back-artifact.ts';
import { newId } from '../../functions/platform/ids.ts';
import { updateItem } from '../../functions/platform/data/table.ts';
import { HARMLESS, tallied, taskStates } from '../promotion/promotion-world.ts';
import { errorNamed } from '../local/step-functions/step-functions-world.ts';
import { withoutBucket } from '../storage/absent-bucket.ts';
import { until } from '../until.ts';
import { type LifecycleWorld, openLifecycleWorld } from './lifecycle-world.ts';

// The machine that promotes versions, with artifacts: the same functions, disturbed in the same ways.

let world: LifecycleWorld;

beforeAll(async () => {
  world = await openLifecycleWorld();
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
const PROMOTED_BY = taskStates(ALL_PASSED);
const RETIRED_BY = taskStates(ALL_RETIRED);

const PROMOTED = {
  audit: {
    'artifacts.artifact.promote': 1,
    'artifacts.artifact.verify': 1,
    'artifacts.artifact.stage': 1,
    'artifacts.artifact.begin_canary': 1,
    'artifacts.artifact.activate': 1,
  },
  events: {
    'apps.artifact.promotion_requested': 1,
    'apps.artifact.verified': 1,
    'apps.artifact.staged': 1,
    'apps.artifact.canary_began': 1,
    'apps.artifact.activated': 1,
  },
};
const RETIRED = {
  audit: { 'artifacts.artifact.retire': 1, 'artifacts.artifact.end_retirement': 1 },
  events: { 'apps.artifact.promotion_requested': 1, 'apps.artifact.retired': 1 },
};

const REASON = { reason: 'It is good.' };

async function told({ id }: Artifact) {
  return {
    audit: tallied((await world.auditOf(id)).map(({ action }) => String(action))),
    events: tallied((await world.eventsOf(id)).map(({ type }) => type)),
  };
}

async function askToPromote(artifact: Artifact, body: object = {}): Promise<string> {
  const { operation_id } = await world.ask(promoteArtifact, artifact, {
    ...REASON,
    target: 'active',
    ...body,
  });
  await world.relay(artifact.id);
  return String(operation_id);
}

/** The end of the execution, and of the promotion, which the sweep may have to help to. */
async function endOf(artifact: Artifact, operationId: string) {
  await until(async () => {
    await world.sweep();
    return (await world.find(artifact)).promotion?.step === 'ended';
  }, 'the promotion to end');
  return { artifact, ...(await world.execution(operationId)) };
}

async function promote(body: object = {}, stated: Parameters<LifecycleWorld['artifact']>[0] = {}) {
  const artifact = await world.artifact(stated);
  return endOf(artifact, await askToPromote(artifact, body));
}

async function retire() {
  const artifact = await world.artifact({ lifecycle_state: 'deprecated', trust_state: 'verified' });
  const { operation_id } = await world.ask(retireArtifact, artifact, REASON);
  // Somebody begins to run it while it is on its way out.
  const instance = await world.use(artifact);
  await world.relay(artifact.id);
  await world.settled(artifact, 'awaiting_last_instance');
  await world.end(artifact, instance);
  return endOf(artifact, String(operation_id));
}

async function expectPromoted(artifact: Artifact): Promise<void> {
  const { artifact: after, promotion } = await world.find(artifact);
  expect(after).toMatchObject({
    lifecycle_state: 'active',
    trust_state: 'verified',
    activated_at: expect.any(String) as string,
    verification: { verdict: 'verified', policy: { name: 'tests' } },
  });
  expect(promotion).toMatchObject({
    status: 'succeeded',
    step: 'ended',
    gates: { verification: { verdict: 'verified' } },
  });
  expect(await told(artifact)).toEqual(PROMOTED);
}

async function expectRetired(artifact: Artifact): Promise<void> {
  const { artifact: after, promotion } = await world.find(artifact);
  expect(after).toMatchObject({ lifecycle_state: 'retired', retired_at: expect.any(String) as string });
  expect(promotion).toMatchObject({ status: 'succeeded' });
  expect(await told(artifact)).toEqual(RETIRED);
}

describe('a promotion', () => {
  test('verifies an artifact and takes it from draft to active, entering every state of its way once', async () => {
    const { artifact, status, states } = await promote();
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(ALL_PASSED);
    await expectPromoted(artifact);
  });

  test.each([
    ['staged', 'StageSubject'],
    ['canary', 'BeginCanary'],
  ] as const)('goes on where a %s artifact stands, once it is verified again', async (state, passedOver) => {
    const stated = { lifecycle_state: state, trust_state: 'unverified' } as const;
    const { artifact, status, states } = await promote({}, stated);
    expect(status).toBe('SUCCEEDED');
    expect(states).toContain('PassGate');
    expect(states).not.toContain(passedOver);
    expect((await world.find(artifact)).artifact).toMatchObject({
      lifecycle_state: 'active',
      trust_state: 'verified',
    });
  });

  test.each(['staged', 'canary'] as const)('stops at %s when no more was asked for', async (target) => {
    const { artifact, status } = await promote({ target });
    expect(status).toBe('SUCCEEDED');
    expect((await world.find(artifact)).artifact.lifecycle_state).toBe(target);
  });

  test('fails where the artifact is not signed, says so, and leaves it in draft', async () => {
    const { artifact, status, states } = await promote({}, { signed: false });
    expect(status).toBe('FAILED');
    expect(states.slice(-3)).toEqual(['PassGate', 'FailPromotion', 'PromotionFailed']);
    const after = await world.find(artifact);
    expect(after.artifact).toMatchObject({
      lifecycle_state: 'draft',
      trust_state: 'unverified',
      verification: { verdict: 'refused', fault: { code: 'signature.none' } },
    });
    expect(after.promotion).toMatchObject({
      status: 'failed',
      error: { code: 'artifact.untrusted', detail: expect.stringMatching(/^signature\.none: /) as string },
      gates: { verification: { verdict: 'refused', fault: { code: 'signature.none' } } },
    });
    expect(await told(artifact)).toMatchObject({
      audit: { 'artifacts.artifact.verify': 1, 'artifacts.artifact.fail_promotion': 1 },
      events: { 'apps.artifact.verification_failed': 1, 'apps.artifact.promotion_failed': 1 },
    });
  });

  test('that cannot reach what it has to look at tries again, and fails as unavailable', async () => {
    let calls = 0;
    world.around((state, run) => ((calls += state === 'PassGate' ? 1 : 0), run()));
    const { artifact, status } = await withoutBucket(promote);
    expect(status).toBe('FAILED');
    expect(calls).toBe(4);
    const after = await world.find(artifact);
    expect(after.artifact).toEqual(artifact);
    expect(after.promotion).toMatchObject({ status: 'failed', error: { code: 'unavailable' } });
  });

  test('of an artifact that is revoked while it bakes fails with that, and never activates it', async () => {
    const artifact = await world.artifact();
    const operationId = await askToPromote(artifact, { bake_seconds: 1 });
    await world.settled(artifact, 'baking');
    await world.ask(revokeArtifact, artifact, { reason: 'It phones home.' });
    await world.relay(artifact.id);
    expect((await world.find(artifact)).promotion).toMatchObject({
      status: 'failed',
      error: { code: 'artifact.revoked', detail: 'The artifact was revoked: It phones home.' },
    });
    const { states } = await world.execution(operationId);
    // The baking may be over before the event has ended the promotion: then activating it is refused.
    expect([
      ['ActivateSubject', 'WeighCanary', 'PromotionOver'],
      ['ActivateSubject', 'FailPromotion', 'PromotionFailed'],
    ]).toContainEqual(states.slice(-3));
    expect((await world.find(artifact)).artifact).toMatchObject({
      lifecycle_state: 'canary',
      trust_state: 'revoked',
    });
  });

  test('of an artifact that is revoked before anybody was told finds out by itself', async () => {
    const artifact = await world.artifact();
    world.around(async (state, run) => {
      if (state === 'StageSubject') await world.ask(revokeArtifact, artifact, { reason: 'It phones home.' });
      return run();
    });
    await endOf(artifact, await askToPromote(artifact));
    const after = await world.find(artifact);
    expect(after.artifact).toMatchObject({ lifecycle_state: 'draft', trust_state: 'revoked' });
    expect(after.promotion).toMatchObject({ status: 'failed', error: { code: 'artifact.revoked' } });
  });

  test('ends when the artifact is rolled back, and the workflow ends quietly', async () => {
    const artifact = await world.artifact();
    const operationId = await askToPromote(artifact, { bake_seconds: 1 });
    await world.settled(artifact, 'baking');
    await world.ask(rollBackArtifact, artifact, REASON);
    const { status, states } = await world.execution(operationId);
    expect({ status, last: states.at(-1) }).toEqual({ status: 'SUCCEEDED', last: 'PromotionOver' });
    const after = await world.find(artifact);
    expect(after.artifact.lifecycle_state).toBe('staged');
    expect(after.promotion).toMatchObject({ status: 'rolled_back' });
  });
});

test('a retirement waits for the last instance, and enters every state of its way once', async () => {
  const { artifact, status, states } = await retire();
  expect(status).toBe('SUCCEEDED');
  expect(states).toEqual(ALL_RETIRED);
  await expectRetired(artifact);
});

describe.each(HARMLESS)('a step that %s', (_, how) => {
  test.each(PROMOTED_BY)('changes nothing about a promotion: %s', async (state) => {
    world.disturb(state, how);
    const { artifact, status, states } = await promote();
    await world.crashes();
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(ALL_PASSED);
    await expectPromoted(artifact);
  });

  test.each(RETIRED_BY)('changes nothing about a retirement: %s', async (state) => {
    world.disturb(state, how);
    const { artifact, status, states } = await retire();
    await world.crashes();
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(ALL_RETIRED);
    await expectRetired(artifact);
  });
});

const STATE_BEFORE: Record<string, Artifact['lifecycle_state']> = {
  PassGate: 'draft',
  StageSubject: 'draft',
  BeginCanary: 'staged',
  ActivateSubject: 'canary',
  RetireSubject: 'deprecated',
  AwaitLastInstance: 'deprecated',
};

describe('a step that fails for good', () => {
  const fails = () => Promise.reject(errorNamed('TypeError', 'secret inner workings'));

  test.each([...PROMOTED_BY, ...RETIRED_BY])(
    'ends it and leaves the artifact as it is: %s',
    async (state) => {
      world.disturb(state, fails);
      const { artifact, status, states } = await (RETIRED_BY.includes(state) ? retire() : promote());
      expect(status).toBe('FAILED');
      expect(states.slice(-2)).toEqual(['FailPromotion', 'PromotionFailed']);
      const after = await world.find(artifact);
      expect(after.artifact.lifecycle_state).toBe(STATE_BEFORE[state]);
      expect(after.promotion).toMatchObject({ status: 'failed', error: { code: 'internal' } });
      expect(JSON.stringify(after.promotion)).not.toContain('secret');
      expect(await told(artifact)).toMatchObject({
        audit: { 'artifacts.artifact.fail_promotion': 1 },
        events: { 'apps.artifact.promotion_failed': 1 },
      });
    },
  );

  test('and cannot even be written down is left to the sweep, which ends it', async () => {
    world.around((state, run) => (state === 'StageSubject' || state === 'FailPromotion' ? fails() : run()));
    const artifact = await world.artifact();
    const operationId = await askToPromote(artifact);
    expect((await world.execution(operationId)).status).toBe('FAILED');
    expect((await world.find(artifact)).promotion).toMatchObject({ status: 'running' });
    await updateItem(promotionKey(subjectOfPromotion(artifact.id)), {
      update: 'SET deadline_at = :past',
      condition: 'attribute_exists(pk)',
      values: { ':past': '2026-01-01T00:00:00.000Z' },
    });
    await world.sweep();
    await world.sweep();
    expect((await world.find(artifact)).promotion).toMatchObject({ error: { code: 'promotion.stalled' } });
    expect((await told(artifact)).audit['artifacts.artifact.fail_promotion']).toBe(1);
  });
});

test('a step of an operation that is over changes nothing and ends quietly', async () => {
  const artifact = await world.artifact({ lifecycle_state: 'canary', trust_state: 'verified' });
  const before = await world.find(artifact);
  const [{ handler: advance }, { handler: verify }] = await Promise.all([
    import('../../functions/artifacts/run-promotion-step.ts'),
    import('../../functions/artifacts/verify-for-promotion.ts'),
  ]);
  const step = { subject: subjectOfPromotion(artifact.id), operation_id: newId() };
  for (const to of ['staged', 'canary', 'active', 'retired'])
    expect(await advance({ run: 'advance', ...step, to })).toMatchObject({ decision: 'over' });
  await verify(step);
  expect(await world.find(artifact)).toEqual(before);
  expect(await told(artifact)).toEqual({ audit: {}, events: {} });
});
