import { describe, expect, test } from 'vitest';
import type { App } from '../../functions/catalog/app.ts';
import { planEntitlement, type PutEntitlement } from '../../functions/catalog/entitlement.ts';
import { type Launcher, viewProjectApp } from '../../functions/catalog/launchability.ts';
import { planApp } from './entitled.ts';

const PROJECT: Launcher = { id: 'project', org_id: 'org', status: 'active' };
const says = (put: PutEntitlement) => planEntitlement(undefined, put, 'user:somebody', new Date(0));
const ENABLED = says({ enabled: true });
const DISABLED = says({ enabled: false });
const pinning = (...version_pins: string[]) => says({ enabled: true, policy_overrides: { version_pins } });

const active = { status: 'active', internal: false } as const;
const canaryOf = (percent: number, ...project_ids: string[]) =>
  ({ status: 'canary', internal: false, canary: { percent, project_ids } }) as const;

interface Case {
  name: string;
  app?: Partial<App>;
  project?: Partial<Launcher>;
  org?: ReturnType<typeof says>;
  own?: ReturnType<typeof says>;
  version: string | null;
  reasons?: string[];
}

const cases: Case[] = [
  { name: 'entitled by itself', own: ENABLED, version: '1.0.0' },
  { name: 'entitled by its organisation', org: ENABLED, version: '1.0.0' },
  { name: 'entitled by nobody', version: '1.0.0', reasons: ['entitlement.missing'] },
  { name: 'that disabled it', own: DISABLED, version: '1.0.0', reasons: ['entitlement.disabled'] },
  {
    name: 'that disabled what the organisation gives',
    org: ENABLED,
    own: DISABLED,
    version: '1.0.0',
    reasons: ['entitlement.disabled'],
  },
  {
    name: 'whose organisation disabled it later',
    org: DISABLED,
    own: ENABLED,
    version: '1.0.0',
    reasons: ['entitlement.org_disabled'],
  },
  {
    name: 'where both disabled it',
    org: DISABLED,
    own: DISABLED,
    version: '1.0.0',
    reasons: ['entitlement.org_disabled', 'entitlement.disabled'],
  },
  {
    name: 'that is archived',
    project: { status: 'archived' },
    own: ENABLED,
    version: '1.0.0',
    reasons: ['project.archived'],
  },
  {
    name: 'of an app with nothing active',
    app: {
      versions: {
        '1.0.0': { status: 'deprecated', internal: false },
        '1.1.0': { status: 'staged', internal: false },
        '1.2.0': { status: 'draft', internal: false },
      },
    },
    own: ENABLED,
    version: null,
    reasons: ['version.none_active'],
  },
  {
    name: 'named in a canary',
    app: { versions: { '1.0.0': active, '1.1.0': canaryOf(0, 'project') } },
    own: ENABLED,
    version: '1.1.0',
  },
  {
    name: 'not in the canary',
    app: { versions: { '1.0.0': active, '1.1.0': canaryOf(0, 'another') } },
    own: ENABLED,
    version: '1.0.0',
  },
  {
    name: 'in the canary of the first version there is',
    app: { versions: { '1.1.0': canaryOf(100) } },
    own: ENABLED,
    version: '1.1.0',
  },
  {
    name: 'outside of the canary of the first version there is',
    app: { versions: { '1.1.0': canaryOf(0) } },
    own: ENABLED,
    version: null,
    reasons: ['version.none_active'],
  },
  {
    name: 'in two canaries',
    app: { versions: { '1.10.0': canaryOf(100), '1.9.0': canaryOf(100), '1.0.0': active } },
    own: ENABLED,
    version: '1.10.0',
  },
  {
    name: 'in the canary, that pins the active version',
    app: { versions: { '1.0.0': active, '1.1.0': canaryOf(100) } },
    own: pinning('1.0'),
    version: '1.0.0',
  },
  {
    name: 'that pins a version which is not active any more',
    app: { versions: { '1.0.0': { status: 'deprecated', internal: false }, '2.0.0': active } },
    own: pinning('1.0.0'),
    version: null,
    reasons: ['version.pinned_unavailable'],
  },
  {
    name: 'that pins another version than its organisation does later',
    app: { versions: { '2.0.0': active } },
    org: pinning('1.0.0'),
    own: pinning('2.0.0'),
    version: null,
    reasons: ['version.pinned_unavailable'],
  },
  {
    name: 'whose version lost the trust in an artifact',
    app: { versions: { '1.0.0': { ...active, untrusted: { runtime: 'revoked' } } } },
    own: ENABLED,
    version: null,
    reasons: ['artifact.untrusted'],
  },
  {
    name: 'in a canary that lost the trust in an artifact',
    app: {
      versions: { '1.0.0': active, '1.1.0': { ...canaryOf(100), untrusted: { runtime: 'unverified' } } },
    },
    own: ENABLED,
    version: '1.0.0',
  },
  {
    name: 'that pins a version which lost the trust in an artifact',
    app: {
      versions: { '1.0.0': { ...active, untrusted: { runtime: 'unverified' } }, '1.1.0': canaryOf(100) },
    },
    own: pinning('1.0.0'),
    version: null,
    reasons: ['artifact.untrusted'],
  },
  {
    name: 'left with no mode, scope or instance by its organisation',
    org: says({
      enabled: true,
      policy_overrides: {
        allowed_operating_modes: ['platform_managed'],
        allowed_control_plane_scopes: ['platform'],
        max_instances: 0,
      },
    }),
    own: says({ enabled: true, policy_overrides: { allowed_operating_modes: ['tenant_dedicated'] } }),
    version: '1.0.0',
    reasons: ['mode.not_allowed', 'scope.not_allowed', 'entitlement.no_instances'],
  },
  {
    name: 'allowed no GPU',
    own: says({ enabled: true, policy_overrides: { max_gpus: 0 } }),
    version: '1.0.0',
  },
  {
    name: 'of the publisher’s organisation, of an internal version',
    app: {
      owner: { org_id: 'org', project_id: 'sibling' },
      versions: { '1.0.0': { status: 'active', internal: true } },
    },
    own: ENABLED,
    version: '1.0.0',
  },
  {
    name: 'of another organisation, where a newer version is internal',
    app: {
      owner: { org_id: 'another', project_id: 'theirs' },
      versions: { '1.0.0': active, '1.1.0': { ...canaryOf(100, 'project'), internal: true } },
    },
    own: ENABLED,
    version: '1.0.0',
  },
];

describe('a project', () => {
  test.each(cases)('$name: $version $reasons', ({ app, project, org, own, version, reasons = [] }) => {
    const view = viewProjectApp(planApp(app), { ...PROJECT, ...project }, { org, own });
    expect(view).toMatchObject({ launch_version: version, launchable: reasons.length === 0 });
    expect(view?.reasons.map(({ code }) => code)).toEqual(reasons);
    expect(view?.entitled).toBe(Boolean(org ?? own) && (org?.enabled ?? true) && (own?.enabled ?? true));
    for (const { detail, hint } of view?.reasons ?? []) {
      expect(detail).toMatch(/^[A-Z].*\.$/);
      expect(hint).toMatch(/^Ask .*\.$/);
    }
  });

  test('is not shown an app of which it may see no version', () => {
    const app = planApp({
      owner: { org_id: 'another', project_id: 'theirs' },
      versions: { '1.0.0': { status: 'active', internal: true } },
    });
    expect(viewProjectApp(app, PROJECT, { own: ENABLED })).toBeUndefined();
  });

  test.each(['launchable', 'entitled'])('is shown what is %s, or what is not, or both', (name) => {
    const [yes, no] = [{ own: ENABLED }, { own: DISABLED }];
    const isShown = (says: typeof yes, wanted: boolean) =>
      viewProjectApp(planApp(), PROJECT, says, { [name]: wanted }) !== undefined;
    expect([isShown(yes, true), isShown(yes, false)]).toEqual([true, false]);
    expect([isShown(no, true), isShown(no, false)]).toEqual([false, true]);
  });

  test('is shown what it is entitled to and cannot launch', () => {
    const app = planApp({ versions: { '1.0.0': { status: 'staged', internal: false } } });
    const asked = { entitled: true, launchable: false };
    expect(viewProjectApp(app, PROJECT, { own: ENABLED }, asked)).toBeDefined();
    expect(viewProjectApp(app, PROJECT, { own: ENABLED }, { ...asked, launchable: true })).toBeUndefined();
  });
});
