// Whether a project may launch an app, which version it would get, and if not, why not and what to do about it.

import * as v from 'valibot';
import { type App, AppView, viewApp } from './app.ts';
import { isInCanary } from './canary.ts';
import { type Effective, effectiveOf, isPinned, offerTo, type Says } from './entitlement.ts';
import { type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import { compareVersions, type VersionNumber } from '../platform/version-number.ts';

const REASONS = [
  'project.archived',
  'entitlement.missing',
  'entitlement.disabled',
  'entitlement.org_disabled',
  'entitlement.no_instances',
  'version.none_active',
  'version.pinned_unavailable',
  'artifact.untrusted',
  'mode.not_allowed',
  'scope.not_allowed',
] as const;

const Reason = v.object({
  code: v.picklist(REASONS),
  detail: v.string(),
  /** What to do about it. */
  hint: v.string(),
});
type Reason = v.InferOutput<typeof Reason>;

export const ProjectAppView = v.object({
  ...AppView.entries,
  entitled: v.boolean(),
  launchable: v.boolean(),
  /** What a launch takes when nobody says otherwise. */
  launch_version: v.nullable(textOf<VersionNumber>()),
  /** Why it cannot be launched: everything that stands in the way. */
  reasons: v.array(Reason),
});
export type ProjectAppView = v.InferOutput<typeof ProjectAppView>;

export const ProjectAppPage = v.object({
  items: v.array(ProjectAppView),
  next_cursor: v.nullable(v.string()),
});

export interface Launcher {
  id: ProjectId;
  org_id: OrgId;
  status: 'active' | 'archived';
}

/** Which apps are asked for; an omitted member lets all through. */
interface Asked {
  launchable?: boolean;
  entitled?: boolean;
}

/** An app as a project sees it; nothing where it may see no version of it, or asks for the others. */
export function viewProjectApp(
  app: App,
  project: Launcher,
  says: Says,
  { launchable, entitled }: Asked = {},
): ProjectAppView | undefined {
  const offer = offerTo(app, { org_id: project.org_id, project_id: project.id });
  const verdict = offer && judgeLaunch(offer, project, says);
  if (!verdict || (launchable ?? verdict.launchable) !== verdict.launchable) return undefined;
  if ((entitled ?? verdict.entitled) !== verdict.entitled) return undefined;
  const view = viewApp(offer, true);
  return view && { ...view, ...verdict };
}

type Verdict = Pick<ProjectAppView, 'entitled' | 'launchable' | 'launch_version' | 'reasons'>;

/** Of an app as `offerTo` shows it to the project. */
function judgeLaunch(offer: App, project: Launcher, says: Says): Verdict {
  const effective = effectiveOf(offer, says);
  const open = openVersions(offer, project.id);
  const pinned = open.filter((version) => isPinned(version, effective.version_pins));
  const launch_version = pinned.find((version) => !offer.versions[version]?.untrusted) ?? null;
  const [blocked] = pinned;
  const reasons = [
    ...(project.status === 'archived' ? [ARCHIVED] : []),
    ...reasonsNotEntitled(says),
    ...(launch_version === null
      ? [blocked === undefined ? reasonWithoutVersion(open, effective) : reasonUntrusted(offer, blocked)]
      : []),
    ...(effective.enabled ? reasonsOfPolicy(offer, effective) : []),
  ];
  return { entitled: effective.enabled, launchable: reasons.length === 0, launch_version, reasons };
}

/** What the project could launch if nothing were pinned: what is in canary for it, newest first, then the active one. */
function openVersions({ slug, versions }: App, projectId: ProjectId): VersionNumber[] {
  const of = (status: 'canary' | 'active'): VersionNumber[] =>
    Object.keys(versions)
      .filter((version) => versions[version]?.status === status)
      .sort((a, b) => compareVersions(b, a));
  const canaries = of('canary').filter((version) => {
    const audience = versions[version]?.canary;
    return audience !== undefined && isInCanary(audience, slug, version, projectId);
  });
  return [...canaries, ...of('active')];
}

const ARCHIVED: Reason = {
  code: 'project.archived',
  detail: 'The project is archived.',
  hint: 'Ask a project admin to unarchive the project.',
};

function reasonsNotEntitled({ org, own }: Says): Reason[] {
  const reasons: Reason[] = [];
  if (!org && !own)
    reasons.push({
      code: 'entitlement.missing',
      detail: 'The app is not entitled in this project.',
      hint: 'Ask a project admin to enable the app for the project.',
    });
  if (org && !org.enabled)
    reasons.push({
      code: 'entitlement.org_disabled',
      detail: 'The organisation has disabled the app.',
      hint: 'Ask an organisation admin to enable the app.',
    });
  if (own && !own.enabled)
    reasons.push({
      code: 'entitlement.disabled',
      detail: 'The project has disabled the app.',
      hint: 'Ask a project admin to enable the app.',
    });
  return reasons;
}

function reasonWithoutVersion(open: VersionNumber[], { version_pins }: Effective): Reason {
  if (version_pins === null || open.length === 0)
    return {
      code: 'version.none_active',
      detail: 'No version of the app is active.',
      hint: 'Ask the publisher to promote a version.',
    };
  const pinned =
    version_pins.join(', ') || 'none, because the project and the organisation pin different versions';
  return {
    code: 'version.pinned_unavailable',
    detail: `No launchable version is pinned. Launchable: ${open.join(', ')}. Pinned: ${pinned}.`,
    hint: 'Ask a project admin to change the version pins.',
  };
}

function reasonUntrusted({ versions }: App, version: VersionNumber): Reason {
  const lost = Object.entries(versions[version]?.untrusted ?? {});
  return {
    code: 'artifact.untrusted',
    detail: `Version ${version} cannot be launched: ${lost.map(([name, state]) => `its artifact “${name}” is ${state}`).join(', ')}.`,
    hint: 'Ask the publisher to verify the artifact again, or to publish a version with another artifact.',
  };
}

function reasonsOfPolicy(offer: App, effective: Effective): Reason[] {
  const reasons: Reason[] = [];
  if (effective.allowed_operating_modes.length === 0)
    reasons.push({
      code: 'mode.not_allowed',
      detail: `The entitlement allows none of the app's operating modes: ${offer.operating_modes.join(', ')}.`,
      hint: 'Ask a project admin to allow one of them.',
    });
  if (effective.allowed_control_plane_scopes.length === 0)
    reasons.push({
      code: 'scope.not_allowed',
      detail: `The entitlement allows none of the app's control plane scopes: ${offer.control_plane_scopes.join(', ')}.`,
      hint: 'Ask a project admin to allow one of them.',
    });
  if (effective.max_instances === 0)
    reasons.push({
      code: 'entitlement.no_instances',
      detail: 'The entitlement allows no instances.',
      hint: 'Ask a project admin to raise the maximum number of instances.',
    });
  return reasons;
}
