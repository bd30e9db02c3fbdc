import { describe, expect, test } from 'vitest';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import {
  type DueTask,
  dueTasks,
  chooseDue,
  DRAFT_SECONDS_MAX,
  type Due,
  dueAt,
  VERIFY_EVERY_SECONDS,
  VERIFY_LOST_EVERY_SECONDS,
} from '../../functions/artifacts/artifact-due.ts';
import { planProject } from '../../functions/identity/project.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { newId } from '../../functions/platform/ids.ts';
import { planArtifact } from '../artifacts/planned-artifact.ts';

const THEN = new Date('2027-03-01T00:00:00.000Z');
const project = planProject(newId(), newId(), { name: 'A project', slug: 'a-project' }, THEN);
const later = (seconds: number): string => secondsAfter(THEN, seconds).toISOString();
const verified = (more: Partial<NonNullable<Artifact['verification']>> = {}): Partial<Artifact> => ({
  trust_state: 'verified',
  verification: { verdict: 'verified', at: THEN.toISOString(), trust_revision: 3, ...more },
});

const LOST: Partial<Artifact> = {
  trust_state: 'unverified',
  verification: { verdict: 'refused', at: THEN.toISOString(), trust_revision: 3 },
};

describe('an artifact is looked at again', () => {
  test.each<[string, Partial<Artifact>, number | undefined]>([
    ['a draft, to be forgotten', {}, DRAFT_SECONDS_MAX],
    ['a verified draft, each day like any', verified(), VERIFY_EVERY_SECONDS],
    ['an active one, each day', { lifecycle_state: 'active', ...verified() }, VERIFY_EVERY_SECONDS],
    ['a deprecated one, each day', { lifecycle_state: 'deprecated', ...verified() }, VERIFY_EVERY_SECONDS],
    [
      'one whose certificate ends sooner, then',
      { lifecycle_state: 'active', ...verified({ valid_until: later(60) }) },
      60,
    ],
    [
      'one whose certificate ends later, each day all the same',
      { lifecycle_state: 'active', ...verified({ valid_until: later(VERIFY_EVERY_SECONDS + 1) }) },
      VERIFY_EVERY_SECONDS,
    ],
    ['one that lost its trust, each hour', { lifecycle_state: 'active', ...LOST }, VERIFY_LOST_EVERY_SECONDS],
    ['a retired one, never', { lifecycle_state: 'retired', ...verified() }, undefined],
    ['a revoked one, never', { lifecycle_state: 'active', trust_state: 'revoked' }, undefined],
    ['a revoked draft, never', { trust_state: 'revoked' }, undefined],
  ])('%s', (_, stated, seconds) => {
    const artifact = planArtifact(project, { app_slug: 'an-app', ...stated }, THEN);
    expect(dueAt(artifact)).toBe(seconds === undefined ? undefined : later(seconds));
    if (seconds === undefined) return;
    expect(dueTasks(artifact, 3, secondsAfter(THEN, seconds - 1))).toEqual([]);
    expect(dueTasks(artifact, 3, secondsAfter(THEN, seconds))).not.toEqual([]);
  });

  test.each<[string, Partial<Artifact>, number, DueTask[]]>([
    ['an active one, when a policy has changed', { lifecycle_state: 'active', ...verified() }, 4, ['verify']],
    ['an active one, not when none has', { lifecycle_state: 'active', ...verified() }, 3, []],
    [
      'one that lost its trust, when a policy has changed',
      { lifecycle_state: 'active', ...LOST },
      4,
      ['verify'],
    ],
    ['a verified draft, when a policy has changed', verified(), 4, ['verify']],
    ['a draft, not when a policy has changed', {}, 4, []],
    ['a revoked one, never', { lifecycle_state: 'active', trust_state: 'revoked' }, 4, []],
  ])('%s', (_, stated, revision, care) => {
    const artifact = planArtifact(project, { app_slug: 'an-app', ...stated }, THEN);
    expect(dueTasks(artifact, revision, THEN)).toEqual(care);
  });

  test('an old draft that is verified, to be forgotten, and if it is needed, to be verified', () => {
    const artifact = planArtifact(project, { app_slug: 'an-app', ...verified() }, THEN);
    expect(dueTasks(artifact, 3, secondsAfter(THEN, DRAFT_SECONDS_MAX))).toEqual(['forget', 'verify']);
  });
});

describe('of those that are due', () => {
  const due = (artifact_id: string, due_at: string, more: Partial<Due> = {}): Due => ({
    artifact_id,
    due_at,
    lifecycle_state: 'active',
    trust_state: 'verified',
    trust_revision: 3,
    ...more,
  });
  const chosen = (all: Due[], most = 10): string[] =>
    chooseDue(all, 3, THEN, most).map(({ artifact_id }) => artifact_id);

  test('the longest due come first, and no more than can be done', () => {
    const all = [due('today', later(-1)), due('yesterday', later(-2)), due('tomorrow', later(1))];
    expect(chosen(all)).toEqual(['yesterday', 'today']);
    expect(chosen(all, 1)).toEqual(['yesterday']);
  });

  test('those judged by an older state of trust are due too, drafts that nobody verified are not', () => {
    const stale = { trust_revision: 2 };
    const never = { trust_revision: undefined };
    expect(
      chosen([
        due('active', later(9), stale),
        due('never', later(9), never),
        due('draft', later(9), { ...never, lifecycle_state: 'draft', trust_state: 'unverified' }),
      ]),
    ).toEqual(['active', 'never']);
  });

  test('those tried in vain come last, the latest tried at the very end', () => {
    const all = [
      due('tried now', later(-9), { tried_at: later(0) }),
      due('tried before', later(-8), { tried_at: later(-5) }),
      due('untried', later(-1)),
    ];
    expect(chosen(all)).toEqual(['untried', 'tried before', 'tried now']);
  });
});
