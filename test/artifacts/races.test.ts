import fc from 'fast-check';
import { subjectOfPromotion as subjectOfArtifact } from '../../functions/artifacts/artifact-promotion.ts';
import type { Artifact, LifecycleState } from '../../functions/artifacts/artifact.ts';
import { deprecateArtifact } from '../../functions/artifacts/deprecate-artifact.ts';
import { promoteArtifact } from '../../functions/artifacts/promote-artifact.ts';
import { retireArtifact } from '../../functions/artifacts/retire-artifact.ts';
import { revokeArtifact } from '../../functions/artifacts/revoke-artifact.ts';
import { rollBackArtifact } from '../../functions/artifacts/roll-back-artifact.ts';
import { handler as stepOfArtifact } from '../../functions/artifacts/run-promotion-step.ts';
import { verifyArtifact } from '../../functions/artifacts/verify-artifact.ts';
import { handler as verifyForPromotion } from '../../functions/artifacts/verify-for-promotion.ts';
import { answerSmoke } from '../../functions/catalog/answer-smoke.ts';
import type { App } from '../../functions/catalog/app.ts';
import { deprecateVersion } from '../../functions/catalog/deprecate-version.ts';
import { findRelease } from '../../functions/catalog/keep-release.ts';
import { appKey, versionKey } from '../../functions/catalog/keys.ts';
import { publishVersion } from '../../functions/catalog/publish-version.ts';
import { artifactKey, type Rank, SUFFICIENT } from '../../functions/catalog/readiness.ts';
import { rollBackVersion } from '../../functions/catalog/roll-back-version.ts';
import { handler as stepOfVersion } from '../../functions/catalog/run-promotion-step.ts';
import { subjectOfPromotion as subjectOfVersion } from '../../functions/catalog/version-promotion.ts';
import type { Version } from '../../functions/catalog/version.ts';
import { handler as checkVersion } from '../../functions/manifests/check-version.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { readItemsAtOnce } from '../../functions/platform/data/rows.ts';
import { putItem } from '../../functions/platform/data/table.ts';
import { Refusal } from '../../functions/platform/errors.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Promotion } from '../../functions/promotion/promotion.ts';
import { FOLLOWING, type Status } from '../../functions/promotion/status.ts';
import { type LifecycleWorld, openLifecycleWorld } from './lifecycle-world.ts';
import { policyOfTests } from './signed-file.ts';
import { releaseVersion } from '../catalog/released.ts';
import { DEEP } from '../deep.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Whatever people, policies and the workflow do to an artifact and to the version over it, at once and again: both
// move only as drawn, the version never outranks the artifact, and a revocation is final.

const RUNS = DEEP ? 80 : 8;
const REASON = { reason: 'Because.' };

let world: LifecycleWorld;
beforeAll(async () => {
  world = await openLifecycleWorld();
});
afterAll(() => world.close());

interface Scene {
  artifact: Artifact;
  version: Version;
}
type Act = (scene: Scene) => Promise<unknown>;

/** Whether what is signed here is trusted from now on. */
const trust = (isTrusted: boolean): Promise<void> =>
  putItem({ ...policyOfTests(new Date()), identities: [isTrusted ? 'O=Example' : 'O=Somebody else'] });

const ofArtifact =
  (endpoint: Parameters<LifecycleWorld['ask']>[0], body?: object): Act =>
  ({ artifact }) =>
    world.ask(endpoint, artifact, body);

const promoteTo = (target: string): Act => ofArtifact(promoteArtifact, { ...REASON, target });

/** The step the workflow would take next, of the artifact's promotion. */
const work: Act = async ({ artifact }) => {
  const { promotion } = await world.find(artifact);
  if (promotion?.status !== 'running') return promoteTo('active')({ artifact } as Scene);
  return stepOf(promotion);
};

/** And of the version's. */
const workOnVersion: Act = async ({ version }) => {
  const { promotion } = await findRelease(version);
  if (promotion?.status !== 'running')
    return world.askAny(publishVersion, version, { ...REASON, bake_seconds: 0 });
  return stepOf(promotion);
};

async function stepOf({ subject, operation_id, step }: Promotion): Promise<unknown> {
  const told = { subject, operation_id };
  const runStep = subject.kind === 'version' ? stepOfVersion : stepOfArtifact;
  switch (step) {
    case 'verifying':
      return verifyForPromotion(told);
    case 'checking':
      await checkVersion(told);
      return runStep({ run: 'request_smoke', ...told, task_token: newId() });
    case 'awaiting_smoke':
      return world.askAny(answerSmoke, subject, { verdict: 'passed' });
    case 'smoke_answered':
    case 'staging':
      return runStep({ run: 'advance', ...told, to: 'staged' });
    case 'beginning_canary':
      return runStep({ run: 'advance', ...told, to: 'canary' });
    case 'baking':
      return runStep({ run: 'advance', ...told, to: 'active' });
    default:
      return runStep({ run: 'advance', ...told, to: 'retired' });
  }
}

const onVersion =
  (endpoint: Parameters<LifecycleWorld['ask']>[0], body: object): Act =>
  ({ version }) =>
    world.askAny(endpoint, version, body);

const weighed = (weight: number, ...acts: Act[]) => ({ weight, arbitrary: fc.constantFrom(...acts) });

const act = fc.oneof(
  weighed(10, work),
  weighed(12, workOnVersion),
  weighed(2, ofArtifact(verifyArtifact)),
  weighed(2, promoteTo('staged'), promoteTo('canary'), promoteTo('active')),
  weighed(
    2,
    ofArtifact(rollBackArtifact, REASON),
    ofArtifact(deprecateArtifact, { ...REASON, grace_seconds: 0 }),
    ofArtifact(retireArtifact, REASON),
  ),
  weighed(
    1,
    onVersion(rollBackVersion, REASON),
    onVersion(deprecateVersion, { ...REASON, grace_seconds: 0 }),
  ),
  weighed(
    2,
    () => trust(true),
    () => trust(true),
    () => trust(false),
  ),
);
const revokes: Act = ofArtifact(revokeArtifact, { reason: 'It phones home.' });

async function happen(scene: Scene, acts: Act[]): Promise<void> {
  for (const ended of await Promise.allSettled(acts.map((each) => each(scene))))
    if (ended.status === 'rejected' && !isAnswer(ended.reason)) throw ended.reason;
}

/** A refusal, or a step that is to be tried again. */
const isAnswer = (error: unknown): boolean =>
  error instanceof Refusal || (error instanceof Error && error.name === 'unavailable');

interface Seen {
  lifecycle: LifecycleState;
  status: Status;
  isRevoked: boolean;
}

async function look({ artifact: { id }, version }: Scene): Promise<Seen> {
  const { app_slug, version: number } = version;
  const [artifact, row, app] = (await readItemsAtOnce([
    artifactKey(id),
    versionKey(app_slug, number),
    appKey(app_slug),
  ])) as [Artifact, Version, App];
  const { lifecycle_state, trust_state } = artifact;
  const { status } = row;
  const seen = JSON.stringify({ lifecycle_state, trust_state, status });
  if (status in SUFFICIENT) {
    const sufficient: readonly LifecycleState[] = SUFFICIENT[status as Rank];
    expect(sufficient.includes(lifecycle_state), seen).toBe(true);
  }
  // What could be launched says so in the app's row, where launches look.
  if (status === 'canary' || status === 'active') {
    const marks = app.versions[number]?.untrusted;
    expect(marks, seen).toEqual(trust_state === 'verified' ? undefined : { runtime: trust_state });
  }
  if (lifecycle_state === 'draft') expect(artifact.activated_at).toBeUndefined();
  return { lifecycle: lifecycle_state, status, isRevoked: trust_state === 'revoked' };
}

interface AuditRow {
  subject: string;
  action: string;
  before?: { lifecycle_state?: LifecycleState; trust_state?: string };
  after?: { lifecycle_state?: LifecycleState; trust_state?: string };
}

/** What the audit says became of the artifact: each move follows on the one before. */
async function expectReplayed({ artifact }: Scene, { lifecycle, isRevoked }: Seen): Promise<void> {
  const rows = (await world.auditOf(artifact.id)) as unknown as AuditRow[];
  const own = rows.filter(({ subject }) => subject === `artifact:${artifact.id}`);
  let {
    lifecycle_state: state,
    trust_state: trusted,
  }: { lifecycle_state: LifecycleState; trust_state: string } = artifact;
  for (const { action, before, after } of own) {
    if (after?.lifecycle_state !== undefined) {
      expect(before?.lifecycle_state).toBe(state);
      expect(FOLLOWING[state]).toContain(after.lifecycle_state);
      state = after.lifecycle_state;
    } else if (action !== 'artifacts.artifact.revoke') {
      expect(before?.trust_state).toBe(trusted);
      trusted = after?.trust_state ?? '';
    }
  }
  expect(state).toBe(lifecycle);
  expect(
    own.filter(({ action, before }) => action.endsWith('revoke') && before?.trust_state !== 'revoked'),
  ).toHaveLength(isRevoked ? 1 : 0);
}

/** Where they may go once the trust is gone. */
const AWAY: Partial<Record<LifecycleState, LifecycleState[]>> = {
  canary: ['staged'],
  active: ['deprecated', 'retired'],
  deprecated: ['retired'],
};

/** How far an artifact and the version over it may have come. */
const begun = fc.constantFrom(
  ['draft', 'draft'] as const,
  ['active', 'draft'] as const,
  ['active', 'canary'] as const,
);

/** One that comes all the way: what chance leaves out must not leave the others unproved. */
const UNDISTURBED: [['draft', 'draft'], Act[][], Act[][]] = [
  ['draft', 'draft'],
  [...Array.from({ length: 8 }, () => [work]), ...Array.from({ length: 12 }, () => [workOnVersion])],
  [[work], [workOnVersion]],
];

test(
  'an artifact and its version only ever move as drawn, and a revocation is final',
  { timeout: 600_000 },
  async () => {
    const reached = new Set<string>();
    const moment = fc.array(act, { minLength: 1, maxLength: 3 });
    const moments = fc.array(moment, { minLength: 12, maxLength: 24, size: 'max' });
    const ending = fc.array(moment, { minLength: 2, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(begun, moments, ending, async ([state, status], before, after) => {
        await trust(true);
        const owner = await world.openProject();
        const trust_state = state === 'draft' ? 'unverified' : 'verified';
        const stated = { artifact_name: 'runtime', lifecycle_state: state, trust_state } as const;
        const artifact = await world.artifact(stated, owner);
        const { app_slug: slug, digest } = artifact;
        const version = await releaseVersion({ owner, slug, digest, status, artifact: null });
        const scene = { artifact, version };
        for (const acts of before) {
          await happen(scene, acts);
          const { lifecycle, status } = await look(scene);
          reached.add(`artifact ${lifecycle}`).add(`version ${status}`);
        }
        // Among others, it is revoked; whoever began before it, it wins.
        const [racing = [], ...later] = after;
        await happen(scene, [...racing, revokes, ...racing]);
        let seen = await look(scene);
        expect(seen.isRevoked).toBe(true);
        for (const acts of later) {
          await happen(scene, [...acts, revokes]);
          const { lifecycle } = seen;
          seen = await look(scene);
          expect(seen.isRevoked).toBe(true);
          expect([lifecycle, ...(AWAY[lifecycle] ?? [])]).toContain(seen.lifecycle);
        }
        await expectReplayed(scene, seen);
      }),
      { numRuns: RUNS + 1, examples: [UNDISTURBED], endOnFailure: true },
    );
    // Nothing would be proved by what never got anywhere.
    for (const state of ['draft', 'staged', 'canary', 'active']) {
      expect(reached).toContain(`artifact ${state}`);
      expect(reached).toContain(`version ${state}`);
    }
  },
);

describe('a revocation', () => {
  /** Lets everything up to the write of one call happen, then something else, and only then the write. */
  async function meanwhile(call: () => Promise<unknown>, other: () => Promise<unknown>): Promise<unknown> {
    let isHeld = false;
    const hold = { name: 'hold', step: 'initialize', override: true } as const;
    dynamo().middlewareStack.add(
      (next, context) => async (args) => {
        if (String(context['commandName']).startsWith('TransactWrite') && !isHeld) {
          isHeld = true;
          await other();
        }
        return next(args);
      },
      hold,
    );
    try {
      return await call().catch((error: unknown) => (error as Refusal).code ?? (error as Error).name);
    } finally {
      dynamo().middlewareStack.remove('hold');
      expect(isHeld).toBe(true);
    }
  }

  const revoke = (artifact: Artifact) => () => world.ask(revokeArtifact, artifact, REASON);

  async function running(from: LifecycleState, step: Promotion['step']) {
    await trust(true);
    const isNew = step === 'verifying';
    const artifact = await world.artifact({
      lifecycle_state: from,
      trust_state: isNew ? 'unverified' : 'verified',
    });
    const { operation_id } = await world.ask(promoteArtifact, artifact, { ...REASON, target: 'active' });
    const told = { subject: subjectOfArtifact(artifact.id), operation_id };
    if (!isNew) await verifyForPromotion(told);
    expect((await world.find(artifact)).promotion?.step).toBe(step);
    return { artifact, told };
  }

  test.each([
    ['verify', 'draft', 'verifying', undefined],
    ['staging', 'draft', 'staging', 'staged'],
    ['beginning of the canary', 'staged', 'beginning_canary', 'canary'],
    ['activation', 'canary', 'baking', 'active'],
  ] as const)('wins over a %s that began before it and lands after it', async (_, from, step, to) => {
    const { artifact, told } = await running(from, step);
    const call = () => (to ? stepOfArtifact({ run: 'advance', ...told, to }) : verifyForPromotion(told));
    expect(await meanwhile(call, revoke(artifact))).toBe('artifact.revoked');
    expect((await world.find(artifact)).artifact).toMatchObject({
      lifecycle_state: from,
      trust_state: 'revoked',
    });
  });

  test.each([
    ['verification', verifyArtifact, undefined],
    ['request to promote', promoteArtifact, { ...REASON, target: 'active' }],
  ] as const)('wins over a %s that began before it and lands after it', async (_, endpoint, body) => {
    await trust(true);
    const artifact = await world.artifact();
    const outcome = await meanwhile(() => world.ask(endpoint, artifact, body), revoke(artifact));
    expect(outcome).toBe('artifact.revoked');
    expect((await world.find(artifact)).artifact.trust_state).toBe('revoked');
    expect((await world.find(artifact)).promotion).toBeUndefined();
  });

  test('that began before a step and lands after it wins all the same', async () => {
    const { artifact, told } = await running('canary', 'baking');
    await meanwhile(revoke(artifact), () => stepOfArtifact({ run: 'advance', ...told, to: 'active' }));
    expect((await world.find(artifact)).artifact).toMatchObject({
      lifecycle_state: 'active',
      trust_state: 'revoked',
    });
  });

  test('that meets a version on its way to active leaves it marked, or where it was', async () => {
    await trust(true);
    const owner = await world.openProject();
    const artifact = await world.artifact(
      { artifact_name: 'runtime', lifecycle_state: 'active', trust_state: 'verified' },
      owner,
    );
    const { app_slug: slug, digest } = artifact;
    const version = await releaseVersion({ owner, slug, digest, artifact: null, status: 'canary' });
    const scene = { artifact, version };
    const { operation_id } = await world.askAny(publishVersion, version, { ...REASON, bake_seconds: 0 });
    const subject = subjectOfVersion(slug, version.version);
    const step = { run: 'advance', subject, operation_id, to: 'active' };
    expect(await meanwhile(() => stepOfVersion(step), revoke(artifact))).toBe('version.artifacts_unready');
    expect(await look(scene)).toMatchObject({ status: 'canary', isRevoked: true });
    await expect(stepOfVersion(step)).rejects.toMatchObject({ code: 'version.artifacts_unready' });
  });
});
