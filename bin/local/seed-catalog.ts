import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { DemoApi } from './demo-api.ts';

const APPS = join(import.meta.dirname, '..', '..', 'starter-pack', 'apps');

export const folderOf = (slug: string): string => join(APPS, slug);

/** Each does what their role is for. */
export interface People {
  projectId: string;
  /** Who publishes and submits, in the name of the project. */
  developer: DemoApi;
  /** Who reviews and promotes. */
  admin: DemoApi;
  /** Who lets the project launch. */
  owner: DemoApi;
}

export interface Manifest {
  app: { slug: string };
  version: { version: string; artifacts: ExpectedArtifact[] };
}

interface ExpectedArtifact {
  name: string;
  digest?: string;
}

export interface Version {
  status: string;
  artifacts: ExpectedArtifact[];
}

interface Submission {
  id: string;
  app_slug: string;
  app_version: string;
  status: string;
}

export const readManifest = (slug: string): Manifest =>
  load(readFileSync(join(folderOf(slug), 'manifest.yaml'), 'utf8')) as Manifest;

export const versionPath = ({ app, version }: Manifest): string =>
  `/api/v1/apps/catalog/${app.slug}/versions/${version.version}`;

/**
 * An app of the starter pack, registered the way every app is: a developer submits the manifest, an admin approves it,
 * and whoever administers the project entitles the app.
 */
export async function seedApp(people: People, manifest: Manifest): Promise<void> {
  await register(people, manifest);
  await entitle(people, manifest.app.slug);
}

async function register(people: People, manifest: Manifest): Promise<void> {
  const { projectId, developer, admin } = people;
  const apps = `/api/v1/projects/${projectId}/apps`;
  const approve = (id: string) => admin.send('POST', `/api/v1/admin/apps/submissions/${id}/approve`, {});
  if (await isRegistered(developer, manifest)) return;
  // What was submitted in a start that was interrupted still waits.
  const { items } = await developer.send<{ items: Submission[] }>('GET', `${apps}/submissions`);
  const open = items.find(
    ({ app_slug, app_version, status }) =>
      app_slug === manifest.app.slug && app_version === manifest.version.version && status === 'submitted',
  );
  if (open) await approve(open.id);
  if (open && (await isRegistered(developer, manifest))) return;
  // One that was just submitted may not be listed yet. Submitted again under the same key, it is the same one.
  const key = hash('sha256', JSON.stringify(manifest));
  const { id } = await developer.send<Submission>('POST', `${apps}/manifests`, manifest, key);
  await approve(id);
}

/** A draft that names other digests is submitted again; whatever has left draft stays as it is. */
async function isRegistered(developer: DemoApi, manifest: Manifest): Promise<boolean> {
  const known = await developer.find<Version>(versionPath(manifest));
  if (!known) return false;
  return known.status !== 'draft' || manifest.version.artifacts.every((wanted) => isNamed(known, wanted));
}

const isNamed = ({ artifacts }: Version, { name, digest }: ExpectedArtifact): boolean =>
  digest === undefined || artifacts.some((known) => known.name === name && known.digest === digest);

async function entitle({ projectId, owner }: People, slug: string): Promise<void> {
  const path = `/api/v1/projects/${projectId}/apps/entitlements/${slug}`;
  const known = await owner.find<{ version: number }>(path);
  if (known && known.version > 0) return;
  await owner.send('PUT', path, {
    enabled: true,
    policy_overrides: {
      allowed_operating_modes: ['tenant_dedicated'],
      allowed_control_plane_scopes: ['project'],
    },
  });
}
