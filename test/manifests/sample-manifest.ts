import { type Manifest, readManifest } from '../../functions/manifests/manifest.ts';
import { newId } from '../../functions/platform/ids.ts';

export const DIGEST = `sha256:${'a1b2c3d4'.repeat(8)}`;

interface Sample {
  app: Record<string, unknown>;
  version: Record<string, unknown>;
}

/** The same app and version, for another backend. */
export const onBackend = ({ app, version }: Sample, runtime_backend: string): Sample =>
  sampleManifest({ ...app, runtime_backend }, { version: version['version'] });

/** As it is stored. */
export function canonical(sent: unknown): Manifest {
  const read = readManifest(sent);
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.manifest;
}

/** A manifest as an app team might send it: small, and good. */
export function sampleManifest(
  app: Record<string, unknown> = {},
  version: Record<string, unknown> = {},
): Sample {
  const { slug = `app-${newId()}`.slice(0, 40) } = app;
  const repository = `gpuaas/apps/sample/${String(slug)}`;
  return {
    app: {
      slug,
      display_name: 'A sample',
      description: 'What it does.',
      category: 'development',
      publisher: 'Somebody',
      support_level: 'community',
      runtime_backend: 'launchable_oci',
      ...app,
    },
    version: {
      version: '1.0.0',
      release_notes: 'The first one.',
      artifacts: [{ name: 'runtime', artifact_kind: 'oci', repository, digest: DIGEST }],
      runtime_profile: { kind: app['runtime_backend'] ?? 'launchable_oci', artifact: 'runtime' },
      ...version,
    },
  };
}
