import { artifactKind } from '../../functions/artifacts/artifact-kind.ts';
import type { App } from '../../functions/catalog/app.ts';
import { requireBound, requireReady } from '../../functions/catalog/readiness.ts';
import {
  auditVersionMove,
  moveVersion,
  type Release,
  type VersionMove,
  VersionMoved,
} from '../../functions/catalog/transition.ts';
import { versionKind } from '../../functions/catalog/version-kind.ts';
import type { Version } from '../../functions/catalog/version.ts';
import type { Kind } from '../../functions/promotion/kind.ts';
import { isFailing, type Promotion, tallyOf } from '../../functions/promotion/promotion.ts';
import { FOLLOWING, type Status, STATUSES } from '../../functions/promotion/status.ts';
import { describe, expect, test } from 'vitest';

const now = new Date('2026-11-16T04:00:00.000Z');
const later = '2026-11-23T04:00:00.000Z';

function release(status: Status, change: Partial<Version> & { instance_count?: number } = {}): Release {
  const { instance_count = 0, ...changed } = change;
  const version: Version = {
    app_slug: 'sample',
    version: '2.0.0',
    status,
    internal: false,
    artifacts: [],
    release_notes: '',
    manifest_digest: 'sha256:0',
    registered_by: 'user:somebody',
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...changed,
  };
  const app: App = {
    slug: 'sample',
    display_name: 'A sample',
    description: '',
    category: 'tools',
    publisher: 'Somebody',
    support_level: 'community',
    runtime_backend: 'launchable_oci',
    operating_modes: ['tenant_dedicated'],
    control_plane_scopes: ['project'],
    ui_kind: 'none',
    versions: status === 'retired' ? {} : { '2.0.0': { status, internal: false } },
    revision: 7,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  };
  return { app, version, instance_count };
}

const audience = { percent: 10, project_ids: ['0199aaaa-0000-7000-8000-00000000000a'] };
const MOVES: Record<Exclude<Status, 'draft'>, VersionMove> = {
  staged: { to: 'staged' },
  canary: { to: 'canary', audience },
  active: { to: 'active' },
  deprecated: { to: 'deprecated', graceSeconds: 7 * 24 * 3600 },
  retired: { to: 'retired' },
};

const DRAWN = new Set([
  'draft → staged',
  'staged → canary',
  'canary → active',
  'canary → staged',
  'active → deprecated',
  'deprecated → retired',
]);

const pairs = STATUSES.flatMap((from) => STATUSES.map((to) => ({ from, to })));

describe('a version', () => {
  test.each(pairs)('that is $from may become $to only if that is drawn', ({ from, to }) => {
    const isDrawn = DRAWN.has(`${from} → ${to}`);
    expect((FOLLOWING[from] as readonly Status[]).includes(to)).toBe(isDrawn);
    if (to === 'draft') return;
    const move = () => moveVersion(release(from), MOVES[to], now);
    if (!isDrawn) return expect(move).toThrow(expect.objectContaining({ code: 'version.wrong_status' }));
    const { app, version } = move();
    expect(version).toMatchObject({ status: to, updated_at: now.toISOString() });
    expect(app.versions['2.0.0']?.status).toBe(to === 'retired' ? undefined : to);
    expect(app).toMatchObject({ revision: 8, updated_at: now.toISOString() });
  });

  test('in canary is listed with who gets it, and no longer once it is anything else', () => {
    const { app, version } = moveVersion(release('staged'), MOVES.canary, now);
    expect(app.versions['2.0.0']).toEqual({ status: 'canary', internal: false, canary: audience });
    expect(moveVersion({ app, version, instance_count: 0 }, MOVES.active, now).app.versions['2.0.0']).toEqual(
      {
        status: 'active',
        internal: false,
      },
    );
    expect(moveVersion({ app, version, instance_count: 0 }, MOVES.staged, now).app.versions['2.0.0']).toEqual(
      {
        status: 'staged',
        internal: false,
      },
    );
  });

  test('forgets on a move what its artifacts had lost: going on, it needs them whole', () => {
    const { app } = release('canary');
    const marked = { status: 'canary', internal: false, untrusted: { runtime: 'unverified' } } as const;
    const moved = moveVersion(
      { ...release('canary'), app: { ...app, versions: { '2.0.0': marked } } },
      MOVES.active,
      now,
    );
    expect(moved.app.versions['2.0.0']).toEqual({ status: 'active', internal: false });
  });

  test('that becomes active takes the place of the one before, which is kept for a week', () => {
    const { app, version } = release('canary');
    const old = release('active', { version: '1.0.0' }).version;
    const both = {
      ...app,
      versions: { ...app.versions, '1.0.0': { status: 'active', internal: false } },
    } as App;
    const moved = moveVersion(
      { app: both, version, instance_count: 0 },
      { to: 'active', supersedes: old },
      now,
    );
    expect(moved.superseded?.after).toMatchObject({
      status: 'deprecated',
      deprecated_at: now.toISOString(),
      retire_after: later,
    });
    expect(Object.values(moved.app.versions).filter(({ status }) => status === 'active')).toHaveLength(1);
    expect(() => moveVersion({ app: both, version, instance_count: 0 }, { to: 'active' }, now)).toThrow(
      /is not the one that was read/,
    );
  });

  test.each([
    ['somebody uses it', { instance_count: 1 }, 'version.in_use'],
    ['its grace period lasts', { retire_after: later }, 'version.wrong_status'],
  ])('is not retired while %s', (_, change, code) => {
    const move = () => moveVersion(release('deprecated', change), MOVES.retired, now);
    expect(move).toThrow(expect.objectContaining({ code }));
  });

  test('is told back from canary as rolled back, and from draft as staged', () => {
    const staged = release('staged').version;
    expect(VersionMoved(release('canary').version, staged).type).toBe('apps.version.rolled_back');
    expect(VersionMoved(release('draft').version, staged).type).toBe('apps.version.staged');
    expect(auditVersionMove(release('canary').version, staged)).toEqual({
      subject: 'app_version:sample@2.0.0',
      before: { status: 'canary' },
      after: { status: 'staged' },
    });
  });
});

describe('its artifacts', () => {
  const artifacts = [
    { name: 'image', artifact_kind: 'oci', variant: 'cpu', repository: 'samples/image', digest: 'sha256:1' },
  ];
  const app_slug = 'sample';
  const version = '2.0.0';
  const good = { app_slug, lifecycle_state: 'active', trust_state: 'verified' } as const;

  test.each([
    ['staged', 'draft', false],
    ['staged', 'staged', true],
    ['staged', 'active', true],
    ['staged', 'deprecated', false],
    ['canary', 'staged', false],
    ['canary', 'canary', true],
    ['active', 'canary', false],
    ['active', 'active', true],
    ['active', 'retired', false],
  ] as const)('let it become %s when they are %s: %s', (to, lifecycle_state, may) => {
    const ready = () => requireReady({ app_slug, version, artifacts }, [{ ...good, lifecycle_state }], to);
    if (may) expect(ready).not.toThrow();
    else expect(ready).toThrow(/“image” for cpu \(samples\/image@sha256:1, version 2\.0\.0\) is/);
  });

  test.each([
    ['are not registered', undefined, /is not registered/],
    ['are registered for another app', { ...good, app_slug: 'other' }, /another app/],
    ['are not verified', { ...good, trust_state: 'unverified' as const }, /is unverified/],
    ['were revoked', { ...good, trust_state: 'revoked' as const }, /is revoked/],
  ])('keep it where it is when they %s', (_, found, words) => {
    expect(() => requireReady({ app_slug, version, artifacts }, [found], 'staged')).toThrow(words);
  });

  test('are all named that are not ready, and those without a digest before anything is read', () => {
    const two = [...artifacts, { name: 'weights', artifact_kind: 'blob' }];
    expect(() =>
      requireReady({ app_slug, version, artifacts: two }, [undefined, undefined], 'staged'),
    ).toThrow(
      /“image” for cpu \(.+\) is not registered\. The artifact “weights” \(version 2\.0\.0\) has no digest yet\./,
    );
    const placed = two.map((artifact) => ({ ...artifact, repository: 'samples/image' }));
    expect(() => requireBound({ version, artifacts: placed })).toThrow(
      'The artifact “weights” (samples/image, version 2.0.0) has no digest yet.',
    );
  });
});

describe('no gate is skipped, however the workflow came to ask', () => {
  const at = now.toISOString();
  const lint = { verdict: 'passed' as const, at, problems: [] };
  const smoke = { verdict: 'passed', at, by: 'user:somebody', notes: '' } as const;
  const requiring = (kind: Kind, gates: Promotion['gates'], to: Promotion['target']) => () =>
    kind.requireGates({ gates } as Promotion, to);

  test.each<[string, Promotion['gates'], string]>([
    ['was not checked', { smoke }, 'manifest.invalid'],
    ['did not pass its check', { lint: { ...lint, verdict: 'failed' }, smoke }, 'manifest.invalid'],
    ['nobody has run', { lint }, 'promotion.not_waiting'],
    ['failed when it was run', { lint, smoke: { ...smoke, verdict: 'failed' } }, 'promotion.not_waiting'],
  ])('a version that %s is not staged', (_, gates, code) => {
    expect(requiring(versionKind, gates, 'staged')).toThrow(expect.objectContaining({ code }));
    expect(requiring(versionKind, { lint, smoke }, 'staged')).not.toThrow();
  });

  test.each(['staged', 'canary', 'active'] as const)(
    'an artifact that was not verified for this promotion does not become %s',
    (to) => {
      const refused = { verification: { verdict: 'refused', at } } as const;
      const verified = { verification: { verdict: 'verified', at } } as const;
      for (const gates of [{}, refused])
        expect(requiring(artifactKind, gates, to)).toThrow(
          expect.objectContaining({ code: 'artifact.untrusted' }),
        );
      expect(requiring(artifactKind, verified, to)).not.toThrow();
    },
  );
});

describe('a canary', () => {
  const canary = {
    percent: 10,
    project_ids: [],
    bake_seconds: 60,
    failure_percent_max: 20,
    instances_min: 3,
    began_at: now.toISOString(),
  };
  const ids = (count: number, of = 'r'): Set<string> =>
    new Set(Array.from({ length: count }, (_, n) => `${of}${n}`));

  test.each([
    [0, 0, false],
    [0, 2, false],
    [0, 3, true],
    [4, 1, false],
    [3, 1, true],
    [8, 2, false],
    [7, 2, true],
  ])('with %d instances that run and %d others that failed is failing: %s', (running, failed, failing) => {
    const observed = { running_ids: ids(running), failed_ids: ids(failed, 'f') };
    expect(isFailing(canary, observed)).toBe(failing);
    expect(isFailing({ ...canary, ended_at: now.toISOString() }, observed)).toBe(false);
    expect(isFailing({ ...canary, began_at: undefined }, observed)).toBe(false);
  });

  test('counts an instance that ran and then failed once', () => {
    expect(tallyOf({ running_ids: ids(4), failed_ids: new Set(['r0']) })).toEqual({
      observed: 4,
      failed: 1,
      failure_percent: 25,
    });
  });
});
