// What a project may launch, and how far: its own say and its organisation's, of which the narrower counts.

import * as v from 'valibot';
import { type InputFault } from '../platform/errors.ts';
import { event } from '../platform/events.ts';
import { OrgId, ProjectId } from '../platform/ids.ts';
import { AppSlug, Time } from '../platform/name.ts';
import { type App, CONTROL_PLANE_SCOPES, isVisible, OPERATING_MODES } from './app.ts';
import { compareVersions, VersionNumber, versionSortKey } from '../platform/version-number.ts';
import { refuse } from './problems.ts';

/** As many as one item holds, each with all it may say. */
export const ENTITLEMENTS_MAX = 200;

const PINS_MAX = 20;
const COUNT_MAX = 10_000;

export const EntitlementParams = v.object({ project_id: ProjectId, app_slug: AppSlug });
export const OrgEntitlementParams = v.object({ org_id: OrgId, app_slug: AppSlug });

const OperatingMode = v.picklist(OPERATING_MODES);
const ControlPlaneScope = v.picklist(CONTROL_PLANE_SCOPES);
const Count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(COUNT_MAX));

/** An omitted member is no restriction. A list has at least one entry: to allow nothing, disable the app. */
const PolicyOverrides = v.strictObject({
  allowed_operating_modes: v.optional(
    v.pipe(v.array(OperatingMode), v.minLength(1), v.maxLength(OPERATING_MODES.length)),
  ),
  allowed_control_plane_scopes: v.optional(
    v.pipe(v.array(ControlPlaneScope), v.minLength(1), v.maxLength(CONTROL_PLANE_SCOPES.length)),
  ),
  version_pins: v.optional(
    v.pipe(
      v.array(VersionNumber),
      v.minLength(1),
      v.maxLength(PINS_MAX),
      v.description('Only these versions may be launched.'),
    ),
  ),
  max_instances: v.optional(Count),
  max_gpus: v.optional(Count),
});
export type PolicyOverrides = v.InferOutput<typeof PolicyOverrides>;

export const PutEntitlement = v.strictObject({
  enabled: v.boolean(),
  policy_overrides: v.optional(PolicyOverrides),
});
export type PutEntitlement = v.InferOutput<typeof PutEntitlement>;

/** What one place, a project or an organisation, says of an app. */
export const Entitlement = v.object({
  enabled: v.boolean(),
  policy_overrides: PolicyOverrides,
  version: v.number(),
  updated_at: v.string(),
  updated_by: v.string(),
});
export type Entitlement = v.InferOutput<typeof Entitlement>;

/** What a project has to go by: what its organisation says, and what it says itself. */
export interface Says {
  org?: Entitlement;
  own?: Entitlement;
}

const Effective = v.object({
  enabled: v.boolean(),
  allowed_operating_modes: v.array(OperatingMode),
  allowed_control_plane_scopes: v.array(ControlPlaneScope),
  version_pins: v.nullable(v.array(VersionNumber)),
  max_instances: v.nullable(Count),
  max_gpus: v.nullable(Count),
});
export type Effective = v.InferOutput<typeof Effective>;

export const EntitlementView = v.object({
  app_slug: AppSlug,
  enabled: v.boolean(),
  policy_overrides: PolicyOverrides,
  /** The effective entitlement: what the app, the organisation and the project all allow. */
  effective: Effective,
  source: v.picklist(['project', 'org']),
  /** Of what the place itself says; 0 where it only inherits. */
  version: v.number(),
  updated_at: Time,
  updated_by: v.string(),
});
export type EntitlementView = v.InferOutput<typeof EntitlementView>;

export const EntitlementPage = v.object({
  items: v.array(EntitlementView),
  next_cursor: v.nullable(v.string()),
});

/** The part of an app that an entitlement is about. */
type Offer = Pick<App, 'operating_modes' | 'control_plane_scopes' | 'versions'>;

/**
 * An app as a place may see it: drafts only where whoever reads there may read at the publisher too, which are its
 * project and its organisation; internal versions in all projects of the organisation.
 */
export function offerTo<A extends Offer & Pick<App, 'owner'>>(
  app: A | undefined,
  { org_id, project_id }: { org_id: OrgId; project_id?: ProjectId },
): A | undefined {
  const isInOrg = app?.owner?.org_id === org_id;
  if (!app || (isInOrg && (project_id === undefined || project_id === app.owner?.project_id))) return app;
  const seen = Object.entries(app.versions).filter(([, entry]) =>
    isInOrg ? entry.status !== 'draft' : isVisible(entry, false),
  );
  return seen.length === 0 ? undefined : { ...app, versions: Object.fromEntries(seen) };
}

/** The narrower of both counts for each member: an organisation that narrows later takes effect immediately. */
export function effectiveOf(offer: Offer | undefined, { org, own }: Says): Effective {
  const said = [org, own].filter((each) => each !== undefined);
  const policies = said.map(({ policy_overrides }) => policy_overrides);
  return {
    enabled: said.length > 0 && said.every(({ enabled }) => enabled),
    allowed_operating_modes: commonTo(
      offer?.operating_modes ?? [],
      policies.map((policy) => policy.allowed_operating_modes),
    ),
    allowed_control_plane_scopes: commonTo(
      offer?.control_plane_scopes ?? [],
      policies.map((policy) => policy.allowed_control_plane_scopes),
    ),
    version_pins: commonPins(policies.flatMap(({ version_pins }) => (version_pins ? [version_pins] : []))),
    max_instances: least(policies.map(({ max_instances }) => max_instances)),
    max_gpus: least(policies.map(({ max_gpus }) => max_gpus)),
  };
}

function commonTo<T>(supported: T[], allowed: (T[] | undefined)[]): T[] {
  return supported.filter((each) => allowed.every((list) => list?.includes(each) ?? true));
}

function commonPins([first, ...others]: VersionNumber[][]): VersionNumber[] | null {
  return first?.filter((pin) => others.every((pins) => isPinned(pin, pins))) ?? null;
}

function least(counts: (number | undefined)[]): number | null {
  const said = counts.filter((count) => count !== undefined);
  return said.length === 0 ? null : Math.min(...said);
}

/** Whether pins let a version through, however either is spelled. */
export function isPinned(version: VersionNumber, pins: VersionNumber[] | null): boolean {
  const sought = versionSortKey(version);
  return pins?.some((pin) => versionSortKey(pin) === sought) ?? true;
}

/** The entry a place shall have, in place of the one it has. */
export function planEntitlement(
  before: Entitlement | undefined,
  { enabled, policy_overrides = {} }: PutEntitlement,
  actor: string,
  now: Date,
): Entitlement {
  const { allowed_operating_modes, allowed_control_plane_scopes, version_pins } = policy_overrides;
  return {
    enabled,
    policy_overrides: {
      ...policy_overrides,
      ...(allowed_operating_modes && { allowed_operating_modes: [...new Set(allowed_operating_modes)] }),
      ...(allowed_control_plane_scopes && {
        allowed_control_plane_scopes: [...new Set(allowed_control_plane_scopes)],
      }),
      ...(version_pins && { version_pins: withoutRepeats(version_pins) }),
    },
    version: (before?.version ?? 0) + 1,
    updated_at: now.toISOString(),
    updated_by: actor,
  };
}

const withoutRepeats = (versions: VersionNumber[]): VersionNumber[] => [
  ...new Map(versions.map((version) => [versionSortKey(version), version])).values(),
];

const OVERRIDES = '/policy_overrides';
const NAMED_MAX = 10;

/** Overrides that exclude everything the app offers are a mistake: it would be enabled but never launchable. */
export function requireSomethingLeft(offer: Offer, { policy_overrides = {} }: PutEntitlement): void {
  const { allowed_operating_modes, allowed_control_plane_scopes, version_pins } = policy_overrides;
  const versions = Object.keys(offer.versions).sort((a, b) => compareVersions(b, a));
  const faults = [
    ...faultUnlessAny('allowed_operating_modes', allowed_operating_modes, offer.operating_modes),
    ...faultUnlessAny(
      'allowed_control_plane_scopes',
      allowed_control_plane_scopes,
      offer.control_plane_scopes,
    ),
    ...faultUnlessAny('version_pins', version_pins, versions, (pin) => isPinned(pin, versions)),
  ];
  if (faults.length > 0) throw refuse('request.invalid', { faults });
}

function faultUnlessAny(
  name: keyof PolicyOverrides,
  asked: string[] | undefined,
  offered: string[],
  isOffered: (each: string) => boolean = (each) => offered.includes(each),
): InputFault[] {
  if (asked === undefined || asked.some(isOffered)) return [];
  const named = offered.slice(0, NAMED_MAX).join(', ') || 'none';
  return [
    { pointer: `${OVERRIDES}/${name}`, detail: `Expected at least one that the app offers: ${named}.` },
  ];
}

/** A project may only narrow what its organisation says. */
export function requireWithinOrg(
  org: Entitlement | undefined,
  { enabled, policy_overrides = {} }: PutEntitlement,
): void {
  if (!org) return;
  const limits = org.policy_overrides;
  const faults = [
    ...(enabled && !org.enabled
      ? [{ pointer: '/enabled', detail: 'The organisation has disabled the app.' }]
      : []),
    ...faultsOutside(
      'allowed_operating_modes',
      policy_overrides.allowed_operating_modes,
      limits.allowed_operating_modes,
    ),
    ...faultsOutside(
      'allowed_control_plane_scopes',
      policy_overrides.allowed_control_plane_scopes,
      limits.allowed_control_plane_scopes,
    ),
    ...faultsOutside('version_pins', policy_overrides.version_pins, limits.version_pins, isPinned),
    ...faultAbove('max_instances', policy_overrides, limits),
    ...faultAbove('max_gpus', policy_overrides, limits),
  ];
  if (faults.length > 0) throw refuse('entitlement.wider_than_org', { faults });
}

function faultsOutside<T extends string>(
  name: keyof PolicyOverrides,
  asked: T[] | undefined,
  allowed: T[] | undefined,
  isAllowed: (each: T, allowed: T[]) => boolean = (each, all) => all.includes(each),
): InputFault[] {
  if (!allowed) return [];
  return (asked ?? []).flatMap((each, index) =>
    isAllowed(each, allowed)
      ? []
      : [
          {
            pointer: `${OVERRIDES}/${name}/${index}`,
            detail: `The organisation allows ${allowed.join(', ')}.`,
          },
        ],
  );
}

function faultAbove(
  name: 'max_instances' | 'max_gpus',
  asked: PolicyOverrides,
  limits: PolicyOverrides,
): InputFault[] {
  const [count, limit] = [asked[name], limits[name]];
  if (count === undefined || limit === undefined || count <= limit) return [];
  return [{ pointer: `${OVERRIDES}/${name}`, detail: `The organisation allows at most ${limit}.` }];
}

export function requireRoom(before: Entitlement | undefined, count: number): void {
  if (!before && count >= ENTITLEMENTS_MAX) throw refuse('entitlement.too_many');
}

/** The effective entitlement of a place; undefined if neither it nor its organisation has one. */
export function viewEntitlement(
  slug: AppSlug,
  offer: Offer | undefined,
  says: Says,
): EntitlementView | undefined {
  const said = says.own ?? says.org;
  if (!said) return undefined;
  const { enabled, policy_overrides, updated_at, updated_by } = said;
  return {
    app_slug: slug,
    enabled,
    policy_overrides,
    effective: effectiveOf(offer, says),
    source: says.own ? 'project' : 'org',
    // An inherited entitlement has version 0: If-Match with 0 makes the first own entry.
    version: says.own?.version ?? 0,
    updated_at,
    updated_by,
  };
}

/** As the organisation itself sees what it says. */
export function viewOrgEntitlement(
  slug: AppSlug,
  offer: Offer | undefined,
  org: Entitlement | undefined,
): EntitlementView | undefined {
  const view = viewEntitlement(slug, offer, { org });
  return view && org && { ...view, version: org.version };
}

/** The place is told beside it, by the row of the audit. */
export const subjectOfEntitlement = (slug: AppSlug): string => `entitlement:${slug}`;

export const EntitlementChanged = event(
  'apps.entitlement.changed',
  1,
  v.object({
    org_id: OrgId,
    project_id: v.optional(ProjectId),
    app_slug: AppSlug,
    enabled: v.boolean(),
    policy_overrides: PolicyOverrides,
  }),
  (
    slug: AppSlug,
    place: { org_id: OrgId; project_id?: ProjectId },
    { enabled, policy_overrides }: Entitlement,
  ) => ({ ...place, app_slug: slug, enabled, policy_overrides }),
);
