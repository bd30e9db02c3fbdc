import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { DemoApi } from './demo-api.ts';

const APPS = join(import.meta.dirname, '..', '..', 'starter-pack', 'apps');

/** The one to try first comes first. */
const SLUGS = ['jupyterlab', 'vllm-openai', 'slurm-reference'] as const;

interface People {
  projectId: string;
  /** Who submits, in the name of the project. */
  developer: DemoApi;
  /** Who reviews. */
  admin: DemoApi;
  /** Who lets the project launch. */
  owner: DemoApi;
}

interface Submission {
  id: string;
  app_slug: string;
  app_version: string;
  status: string;
}

/**
 * The apps of the starter pack, registered the way every app is: a developer submits the manifest, an admin approves
 * it, and whoever administers the project entitles the app. Names the app to try first.
 */
export async function seedCatalog(people: People): Promise<string> {
  for (const slug of SLUGS) {
    await register(people, slug);
    await entitle(people, slug);
  }
  return SLUGS[0];
}

async function register({ projectId, developer, admin }: People, slug: string): Promise<void> {
  const manifest = readFileSync(join(APPS, slug, 'manifest.yaml'), 'utf8');
  const { version } = (load(manifest) as { version: { version: string } }).version;
  if (await developer.find(`/api/v1/apps/catalog/${slug}/versions/${version}`)) return;
  const apps = `/api/v1/projects/${projectId}/apps`;
  // What was submitted in a start that was interrupted still waits.
  const { items } = await developer.send<{ items: Submission[] }>('GET', `${apps}/submissions`);
  const open = items.find(
    (each) => each.app_slug === slug && each.app_version === version && each.status === 'submitted',
  );
  const { id } = open ?? (await developer.send<Submission>('POST', `${apps}/manifests`, manifest));
  await admin.send('POST', `/api/v1/admin/apps/submissions/${id}/approve`, {});
}

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
