// How a manifest becomes a version of an app.

import * as v from 'valibot';
import { type InputFault } from '../platform/errors.ts';
import type { ProjectId } from '../platform/ids.ts';
import { event } from '../platform/events.ts';
import { AppSlug } from '../platform/name.ts';
import { type App, type AppFace, isDraftOnly, VERSIONS_MAX } from '../catalog/app.ts';
import { STATUSES } from '../promotion/status.ts';
import { digestManifest } from './digest-manifest.ts';
import type { Manifest } from './manifest.ts';
import { Digest } from '../platform/name.ts';
import { subjectOfVersion, type Version } from '../catalog/version.ts';
import { VersionNumber } from '../platform/version-number.ts';
import { refuse } from './problems.ts';

export type Owner = NonNullable<App['owner']>;

/** What stands under the manifest's names already. */
export interface Registered {
  app?: App;
  version?: Version;
  /** The last promotion of the version. */
  promotion?: { status: string };
}

export interface Registration {
  app: App;
  version: Version;
}

/** Who registers: the project that owns or will own the slug; without one the platform, which may register any. */
export interface Registrant {
  owner?: Owner;
  actor: string;
}

/** What keeps a good manifest from being registered: the refusal, and where in the manifest its cause stands. */
interface Obstacle extends InputFault {
  code: Parameters<typeof refuse>[0];
}

function obstaclesOf(manifest: Manifest, registered: Registered, owner: Owner | undefined): Obstacle[] {
  const { app } = registered;
  if (!app) return [];
  if (owner && app.owner?.project_id !== owner.project_id) {
    // For another project's app the answer says only that the slug is taken.
    return [
      {
        code: 'app.slug_taken',
        pointer: '/app/slug',
        detail: 'Expected a slug that no other project has registered.',
        hint: 'Choose another slug; a slug belongs to the project that registered it first.',
      },
    ];
  }
  const obstacles: Obstacle[] = [];
  if (manifest.app.runtime_backend !== app.runtime_backend) {
    obstacles.push({
      code: 'app.backend_fixed',
      pointer: '/app/runtime_backend',
      detail: `Expected ${app.runtime_backend}, the backend of the app since its first version.`,
      hint: 'Register a separate app for another backend.',
    });
  }
  return [...obstacles, ...obstaclesOfVersion(manifest, app, registered)];
}

function obstaclesOfVersion(manifest: Manifest, app: App, { version, promotion }: Registered): Obstacle[] {
  const pointer = '/version/version';
  if (!version) {
    if (Object.keys(app.versions).length < VERSIONS_MAX) return [];
    return [
      {
        code: 'app.too_many_versions',
        pointer,
        detail: `Expected at most ${VERSIONS_MAX} versions that are not retired.`,
        hint: 'Retire versions that nobody uses.',
      },
    ];
  }
  const hint = 'Register the change as a new version.';
  if (version.version !== manifest.version.version) {
    const detail = `Expected a new version; this one is already registered as ${version.version}.`;
    return [{ code: 'version.exists', pointer, detail, hint }];
  }
  if (version.status !== 'draft') {
    const detail = `Expected a version that is new or in draft; this one is ${version.status}.`;
    return [{ code: 'version.exists', pointer, detail, hint }];
  }
  if (promotion?.status === 'running') {
    const detail = 'Expected a version that is not being promoted.';
    return [{ code: 'promotion.in_progress', pointer, detail, hint }];
  }
  return [];
}

/** Of each version, where those before it are registered too. */
export function obstaclesOfEach(
  manifests: Manifest[],
  registered: Registered[],
  owner: Owner | undefined,
): Obstacle[][] {
  let app = registered[0]?.app;
  return manifests.map((manifest, index) => {
    const obstacles = obstaclesOf(manifest, { ...registered[index], app }, owner);
    app = planApp(manifest, app, owner, '');
    return obstacles;
  });
}

export function requireRegistrable(
  manifests: Manifest[],
  registered: Registered[],
  owner: Owner | undefined,
): void {
  const [obstacle] = obstaclesOfEach(manifests, registered, owner).flat();
  if (obstacle) throw refuse(obstacle.code, { detail: obstacle.detail });
}

/** Who is named as the owner of a new app must be there, and at work. */
export function requireOwner(named: ProjectId | undefined, project: { status: string } | undefined): void {
  if (named !== undefined && !project) throw refuse('project.unknown');
  if (project?.status === 'archived') throw refuse('project.archived');
}

/** Several versions of one app, whose row changes once. */
export function planRegistrations(
  manifests: Manifest[],
  registered: Registered[],
  by: Registrant,
  now: Date,
): { app: App; versions: [Version, ...Version[]] } {
  const before = registered[0]?.app;
  let app = before;
  const [first, ...others] = manifests.map((manifest, index) => {
    const planned = planRegistration(
      manifest,
      digestManifest(manifest),
      { ...registered[index], app },
      by,
      now,
    );
    app = planned.app;
    return planned.version;
  });
  if (!app || !first) throw new Error('There is no version to register.');
  return { app: { ...app, revision: (before?.revision ?? 0) + 1 }, versions: [first, ...others] };
}

/** A new version in draft, or a draft replaced. */
export function planRegistration(
  manifest: Manifest,
  digest: string,
  registered: Registered,
  { owner, actor }: Registrant,
  now: Date,
): Registration {
  requireRegistrable([manifest], [registered], owner);
  const at = now.toISOString();
  const app = planApp(manifest, registered.app, owner, at);
  const { version, internal_testing, release_notes, artifacts } = manifest.version;
  return {
    app,
    version: {
      app_slug: app.slug,
      version,
      status: 'draft',
      internal: internal_testing,
      ...(app.owner && { owner: app.owner }),
      face: faceOf(manifest),
      artifacts: artifacts.map(({ name, artifact_kind, variant, repository, digest: bound }) => ({
        name,
        artifact_kind,
        ...(variant !== undefined && { variant }),
        ...(repository !== undefined && { repository }),
        ...(bound !== undefined && { digest: bound }),
      })),
      release_notes,
      manifest_digest: digest,
      registered_by: actor,
      created_at: registered.version?.created_at ?? at,
      updated_at: at,
    },
  };
}

function faceOf({ app }: Manifest): AppFace {
  return {
    display_name: app.display_name,
    description: app.description,
    category: app.category,
    publisher: app.publisher,
    support_level: app.support_level,
    runtime_backend: app.runtime_backend,
    operating_modes: app.supported_modes.operating_modes,
    control_plane_scopes: app.supported_modes.control_plane_scopes,
    ui_kind: app.ui_kind,
  };
}

/** An app that others see does not show them that there is a draft. */
function planApp(manifest: Manifest, before: App | undefined, claim: Owner | undefined, at: string): App {
  const { app, version } = manifest;
  const versions = {
    ...before?.versions,
    [version.version]: { status: 'draft', internal: version.internal_testing } as const,
  };
  if (before && !isDraftOnly(before)) return { ...before, versions, revision: before.revision + 1 };
  const owner = before ? before.owner : claim;
  return {
    slug: app.slug,
    ...faceOf(manifest),
    ...(owner && { owner }),
    versions,
    revision: (before?.revision ?? 0) + 1,
    created_at: before?.created_at ?? at,
    updated_at: at,
  };
}

/** As the audit tells it. */
export function auditRegistration(before: Version | undefined, after: Version) {
  const said = ({ status, internal, manifest_digest }: Version) => ({ status, internal, manifest_digest });
  return {
    subject: subjectOfVersion(after.app_slug, after.version),
    ...(before && { before: said(before) }),
    after: said(after),
  };
}

export const VersionRegistered = event(
  'apps.version.registered',
  1,
  v.object({
    app_slug: AppSlug,
    app_version: VersionNumber,
    status: v.picklist(STATUSES),
    manifest_digest: Digest,
  }),
  ({ version, ...registered }: Version) => ({ app_version: version, ...registered }),
);
