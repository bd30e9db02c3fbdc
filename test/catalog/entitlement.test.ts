import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { CONTROL_PLANE_SCOPES, OPERATING_MODES } from '../../functions/catalog/app.ts';
import {
  effectiveOf,
  type Entitlement,
  isPinned,
  offerTo,
  planEntitlement,
  type PolicyOverrides,
  PutEntitlement,
  requireRoom,
  requireSomethingLeft,
  requireWithinOrg,
  viewEntitlement,
} from '../../functions/catalog/entitlement.ts';
import { Refusal } from '../../functions/platform/errors.ts';
import { planApp } from './entitled.ts';

const NOW = new Date('2026-05-01T00:00:00.000Z');
const VERSIONS = ['1.0.0', '1.1.0', '2.0.0', '24.05.0'];

const says = (put: PutEntitlement, before?: Entitlement): Entitlement =>
  planEntitlement(before, put, 'user:somebody', NOW);

const some = <T>(all: readonly T[]) => fc.subarray([...all], { minLength: 1 });
const policies: fc.Arbitrary<PolicyOverrides> = fc.record(
  {
    allowed_operating_modes: some(OPERATING_MODES),
    allowed_control_plane_scopes: some(CONTROL_PLANE_SCOPES),
    version_pins: some(VERSIONS),
    max_instances: fc.nat(20),
    max_gpus: fc.nat(20),
  },
  { requiredKeys: [] },
);
const puts: fc.Arbitrary<PutEntitlement> = fc.record({ enabled: fc.boolean(), policy_overrides: policies });
const apps = fc
  .record({
    operating_modes: some(OPERATING_MODES),
    control_plane_scopes: some(CONTROL_PLANE_SCOPES),
  })
  .map(planApp);

function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

const isRefused = (work: () => unknown): boolean => {
  try {
    work();
    return false;
  } catch {
    return true;
  }
};

const isWithin = <T>(part: T[] | null, whole: T[] | null | undefined): boolean =>
  whole === null || whole === undefined || (part !== null && part.every((each) => whole.includes(each)));
const isAtMost = (count: number | null, limit: number | null | undefined): boolean =>
  limit === null || limit === undefined || (count !== null && count <= limit);

describe('what counts', () => {
  test('is never wider than the app, the organisation or the project allows, whoever spoke last', () => {
    fc.assert(
      fc.property(apps, fc.option(puts), fc.option(puts), (app, orgPut, ownPut) => {
        const org = orgPut ? says(orgPut) : undefined;
        const own = ownPut ? says(ownPut) : undefined;
        const effective = effectiveOf(app, { org, own });
        expect(effective.enabled).toBe(
          [org, own].some(Boolean) && (org?.enabled ?? true) && (own?.enabled ?? true),
        );
        expect(isWithin(effective.allowed_operating_modes, app.operating_modes)).toBe(true);
        expect(isWithin(effective.allowed_control_plane_scopes, app.control_plane_scopes)).toBe(true);
        for (const { policy_overrides: limits } of [org, own].filter((each) => each !== undefined)) {
          expect(isWithin(effective.allowed_operating_modes, limits.allowed_operating_modes)).toBe(true);
          expect(isWithin(effective.allowed_control_plane_scopes, limits.allowed_control_plane_scopes)).toBe(
            true,
          );
          expect(isWithin(effective.version_pins, limits.version_pins)).toBe(true);
          expect(isAtMost(effective.max_instances, limits.max_instances)).toBe(true);
          expect(isAtMost(effective.max_gpus, limits.max_gpus)).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('is what the project asked for, as long as that was let through and nothing changed since', () => {
    fc.assert(
      fc.property(apps, puts, puts, (app, orgPut, ownPut) => {
        const org = says(orgPut);
        fc.pre(!isRefused(() => requireWithinOrg(org, ownPut)));
        const { policy_overrides = {}, enabled } = ownPut;
        const effective = effectiveOf(app, { org, own: says(ownPut) });
        expect(effective.enabled).toBe(enabled && org.enabled);
        const { version_pins, max_instances, max_gpus } = policy_overrides;
        if (version_pins) expect(effective.version_pins).toEqual(version_pins);
        if (max_instances !== undefined) expect(effective.max_instances).toBe(max_instances);
        if (max_gpus !== undefined) expect(effective.max_gpus).toBe(max_gpus);
      }),
      { numRuns: 500 },
    );
  });

  test('without anybody having said anything is nothing', () => {
    expect(effectiveOf(planApp(), {})).toMatchObject({ enabled: false, version_pins: null, max_gpus: null });
    expect(viewEntitlement('an-app', planApp(), {})).toBeUndefined();
  });

  test('of an app that is gone has no mode and no scope left', () => {
    expect(effectiveOf(undefined, { own: says({ enabled: true }) })).toMatchObject({
      allowed_operating_modes: [],
      allowed_control_plane_scopes: [],
    });
  });
});

describe('a project', () => {
  const org = says({
    enabled: false,
    policy_overrides: {
      allowed_operating_modes: ['tenant_dedicated'],
      allowed_control_plane_scopes: ['project'],
      version_pins: ['1.0.0', '24.05.0'],
      max_instances: 2,
      max_gpus: 0,
    },
  });

  test('that asks for more than its organisation allows is told each place where it does', () => {
    const refusal = refusalOf(() =>
      requireWithinOrg(org, {
        enabled: true,
        policy_overrides: {
          allowed_operating_modes: ['tenant_dedicated', 'platform_managed'],
          allowed_control_plane_scopes: ['tenant', 'project'],
          version_pins: ['24.5.0', '2.0.0'],
          max_instances: 3,
          max_gpus: 1,
        },
      }),
    );
    expect(refusal.code).toBe('entitlement.wider_than_org');
    expect(refusal.faults.map(({ pointer }) => pointer)).toEqual([
      '/enabled',
      '/policy_overrides/allowed_operating_modes/1',
      '/policy_overrides/allowed_control_plane_scopes/0',
      '/policy_overrides/version_pins/1',
      '/policy_overrides/max_instances',
      '/policy_overrides/max_gpus',
    ]);
  });

  test('may ask for as much as its organisation allows, and for less', () => {
    expect(() => requireWithinOrg(org, { ...org, enabled: false })).not.toThrow();
    expect(() => requireWithinOrg(org, { enabled: false })).not.toThrow();
    expect(() =>
      requireWithinOrg(undefined, { enabled: true, policy_overrides: { max_gpus: 9 } }),
    ).not.toThrow();
  });

  test('inherits what it says nothing about', () => {
    expect(viewEntitlement('an-app', planApp(), { org: { ...org, version: 7 } })).toMatchObject({
      source: 'org',
      version: 0,
      enabled: false,
      effective: { max_instances: 2 },
    });
  });
});

describe('overrides', () => {
  const app = planApp({
    operating_modes: ['tenant_dedicated'],
    control_plane_scopes: ['project'],
    versions: {
      '1.0.0': { status: 'active', internal: false },
      '24.05.0': { status: 'draft', internal: false },
    },
  });

  test('that leave nothing of the app are refused, each with what the app has', () => {
    const { code, faults } = refusalOf(() =>
      requireSomethingLeft(app, {
        enabled: true,
        policy_overrides: {
          allowed_operating_modes: ['platform_managed'],
          allowed_control_plane_scopes: ['tenant', 'platform'],
          version_pins: ['9.9.9'],
        },
      }),
    );
    expect(code).toBe('request.invalid');
    expect(faults).toEqual([
      {
        pointer: '/policy_overrides/allowed_operating_modes',
        detail: 'Expected at least one that the app offers: tenant_dedicated.',
      },
      {
        pointer: '/policy_overrides/allowed_control_plane_scopes',
        detail: 'Expected at least one that the app offers: project.',
      },
      {
        pointer: '/policy_overrides/version_pins',
        detail: 'Expected at least one that the app offers: 24.05.0, 1.0.0.',
      },
    ]);
  });

  test('that leave something are taken, however a version is spelled', () => {
    const policy_overrides: PolicyOverrides = {
      allowed_operating_modes: ['platform_managed', 'tenant_dedicated'],
      version_pins: ['24.5.0', '9.9.9'],
    };
    expect(() => requireSomethingLeft(app, { enabled: true, policy_overrides })).not.toThrow();
    expect(isPinned('24.05.0', ['24.5'])).toBe(true);
    expect(isPinned('24.05.0', [])).toBe(false);
    expect(isPinned('24.05.0', null)).toBe(true);
  });

  test('are kept without repeats', () => {
    const { policy_overrides, version } = says(
      {
        enabled: true,
        policy_overrides: {
          allowed_operating_modes: ['tenant_dedicated', 'tenant_dedicated'],
          version_pins: ['1.0.0', '1.0', '2.0.0'],
        },
      },
      says({ enabled: false }),
    );
    expect(version).toBe(2);
    expect(policy_overrides).toEqual({
      allowed_operating_modes: ['tenant_dedicated'],
      version_pins: ['1.0', '2.0.0'],
    });
  });

  const refused: [string, unknown][] = [
    ['without enabled', {}],
    ['with a member nobody knows', { enabled: true, unheard_of: 1 }],
    ['with an override nobody knows', { enabled: true, policy_overrides: { max_cpus: 1 } }],
    [
      'with a mode nobody knows',
      { enabled: true, policy_overrides: { allowed_operating_modes: ['shared'] } },
    ],
    ['with an empty list', { enabled: true, policy_overrides: { version_pins: [] } }],
    ['with no version for a pin', { enabled: true, policy_overrides: { version_pins: ['latest'] } }],
    [
      'with too many pins',
      { enabled: true, policy_overrides: { version_pins: Array.from({ length: 21 }, (_, n) => `1.${n}`) } },
    ],
    ['with less than none', { enabled: true, policy_overrides: { max_gpus: -1 } }],
    ['with too many', { enabled: true, policy_overrides: { max_instances: 10_001 } }],
    ['with half an instance', { enabled: true, policy_overrides: { max_instances: 0.5 } }],
  ];
  test.each(refused)('%s are not a body', (_, body) => {
    expect(v.is(PutEntitlement, body)).toBe(false);
  });
});

test('a place has room for as many as one item holds, and for changes of those always', () => {
  expect(() => requireRoom(undefined, 199)).not.toThrow();
  expect(refusalOf(() => requireRoom(undefined, 200)).code).toBe('entitlement.too_many');
  expect(() => requireRoom(says({ enabled: true }), 200)).not.toThrow();
});

describe('an app', () => {
  const owner = { org_id: 'publisher', project_id: 'theirs' };
  const app = planApp({
    owner,
    versions: {
      '1.0.0': { status: 'active', internal: false },
      '2.0.0': { status: 'canary', internal: true },
    },
  });

  test('is offered with its internal versions in its publisher’s organisation only', () => {
    const versionsFor = (place: { org_id: string; project_id?: string }) =>
      Object.keys(offerTo(app, place)?.versions ?? {});
    expect(versionsFor({ org_id: 'publisher', project_id: 'sibling' })).toEqual(['1.0.0', '2.0.0']);
    expect(versionsFor({ org_id: 'others', project_id: 'another' })).toEqual(['1.0.0']);
    expect(versionsFor({ org_id: 'others' })).toEqual(['1.0.0']);
  });

  const drafted = { ...app, versions: { '3.0.0': { status: 'draft', internal: false } as const } };
  test.each<[{ org_id: string; project_id?: string }, boolean]>([
    [owner, true],
    [{ org_id: 'publisher' }, true],
    [{ org_id: 'publisher', project_id: 'sibling' }, false],
    [{ org_id: 'others', project_id: 'theirs' }, false],
    [{ org_id: 'others' }, false],
  ])('with nothing but a draft is offered to %o: %s', (place, isOffered) => {
    expect(offerTo(drafted, place) !== undefined).toBe(isOffered);
    const both = { ...drafted, versions: { ...app.versions, ...drafted.versions } };
    expect(Object.keys(offerTo(both, place)?.versions ?? {}).includes('3.0.0')).toBe(isOffered);
    expect(offerTo({ ...drafted, owner: undefined }, place), 'one of the platform’s own').toBeUndefined();
  });

  test('of which others may see no version is not offered to them', () => {
    const internal = { ...app, versions: { '2.0.0': { status: 'active', internal: true } as const } };
    expect(offerTo(internal, { org_id: 'others' })).toBeUndefined();
    expect(
      offerTo({ ...internal, owner: undefined }, { org_id: 'others' }),
      'nor one of the platform’s own',
    ).toBeUndefined();
    expect(offerTo(internal, { org_id: 'publisher' })).toBeDefined();
    expect(offerTo(undefined, { org_id: 'publisher' })).toBeUndefined();
  });
});
