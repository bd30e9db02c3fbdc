// A manifest as it is sent: the whole body of a request, as JSON or as YAML.

import * as v from 'valibot';
import { type Manifest, readManifest } from './manifest.ts';
import { parseYaml } from './manifest-text.ts';
import { MANIFEST_SCHEMA_PATH, ManifestView } from '../catalog/version.ts';
import { refuse } from './problems.ts';

/** The least an app of one container says. */
const EXAMPLE = {
  app: { slug: 'example', display_name: 'Example', runtime_backend: 'launchable_oci' },
  version: {
    version: '1.0.0',
    artifacts: [{ name: 'runtime', repository: 'gpuaas/apps/example/runtime' }],
    runtime_profile: {
      kind: 'launchable_oci',
      artifact: 'runtime',
      ports: [{ container: 8080 }],
      health: { kind: 'http', port: 8080, path: '/health' },
    },
  },
};

/** The kernel accepts anything: manifests have their own checks with better messages. */
export const SentManifest = v.pipe(
  v.unknown(),
  v.description(`A manifest, as JSON or YAML. Its schema is served at ${MANIFEST_SCHEMA_PATH}.`),
  v.examples([EXAMPLE]),
);

/** What a dry run tells. */
export const ValidationView = v.object({
  /** Whether it would be taken as it is. */
  valid: v.boolean(),
  problems: v.array(v.object({ pointer: v.string(), detail: v.string(), hint: v.optional(v.string()) })),
  manifest: v.optional(ManifestView),
});

/** RFC 9512 names application/yaml; the others are older and still sent. */
export const MANIFEST_TEXT = {
  media: 'application/yaml',
  aliases: /^(application|text)\/(x-)?yaml\b/i,
  parse: parseYaml,
};

export function requireManifest(sent: unknown): Manifest {
  const read = readManifest(sent);
  if ('problems' in read) throw refuse('manifest.invalid', { faults: read.problems });
  return read.manifest;
}
