// A manifest as it is sent: the whole body of a request, as JSON or as YAML.

import * as v from 'valibot';
import { environment } from '../platform/environment.ts';
import type { InputFault } from '../platform/errors.ts';
import type { ProjectSlug } from '../platform/name.ts';
import type { Manifest, SentVersion } from './manifest.ts';
import { type Package, readPackage } from './manifest-package.ts';
import { PACKAGE_VERSIONS_MAX } from './manifest-schema.ts';
import { placeRepositories } from './manifest-repositories.ts';
import { parseYaml } from './manifest-text.ts';
import { MANIFEST_SCHEMA_PATH, ManifestView } from '../catalog/version.ts';
import { refuse } from './problems.ts';

/** The least an app of one container says. */
const EXAMPLE = {
  app: { slug: 'example', display_name: 'Example', runtime_backend: 'launchable_oci' },
  version: {
    version: '1.0.0',
    artifacts: [{ name: 'runtime' }],
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
  v.description(
    `A manifest, as JSON or YAML, of one version or of up to ${PACKAGE_VERSIONS_MAX}. Its schema is served at ${MANIFEST_SCHEMA_PATH}.`,
  ),
  v.examples([EXAMPLE]),
);

/** What a dry run tells. */
export const ValidationView = v.object({
  /** Whether it would be taken as it is. */
  valid: v.boolean(),
  problems: v.array(v.object({ pointer: v.string(), detail: v.string(), hint: v.optional(v.string()) })),
  manifest: v.optional(ManifestView),
  /** Instead of manifest, where several versions were sent as a list. */
  manifests: v.optional(v.array(ManifestView)),
});

/** RFC 9512 names application/yaml; the others are older and still sent. */
export const MANIFEST_TEXT = {
  media: 'application/yaml',
  aliases: /^(application|text)\/(x-)?yaml\b/i,
  parse: parseYaml,
};

/** Everything that was sent, as far as it can be judged without knowing whose app it is. */
export function readSent(sent: unknown): Package | { problems: InputFault[] } {
  return readPackage(sent, [environment('REGISTRY_HOST'), environment('REGISTRY_NAME')]);
}

export function requirePackage(sent: unknown): Package {
  return orInvalid(readSent(sent));
}

/** Of a request that is about one version. */
export function requireManifest(sent: unknown, project?: ProjectSlug): Manifest {
  const { versions, isList } = requirePackage(sent);
  const [manifest] = requirePlaced(versions, project);
  if (manifest && !isList) return manifest;
  const detail = 'Expected version instead: a submission is about one version.';
  throw refuse('manifest.invalid', { faults: [{ pointer: '/versions', detail }] });
}

/** With every artifact where the owner's project keeps it. */
export function placeVersions(
  versions: SentVersion[],
  project: ProjectSlug | undefined,
): { manifests: Manifest[] } | { problems: InputFault[] } {
  const placed = versions.map(({ manifest, pointerOf }) => ({
    pointerOf,
    ...placeRepositories(manifest, project),
  }));
  const problems = placed.flatMap((each) =>
    'problems' in each
      ? each.problems.map((problem) => ({ ...problem, pointer: each.pointerOf(problem.pointer) }))
      : [],
  );
  if (problems.length > 0) return { problems };
  return { manifests: placed.flatMap((each) => ('manifest' in each ? [each.manifest] : [])) };
}

export function requirePlaced(versions: SentVersion[], project: ProjectSlug | undefined): Manifest[] {
  return orInvalid(placeVersions(versions, project)).manifests;
}

function orInvalid<T extends object>(read: T | { problems: InputFault[] }): T {
  if ('problems' in read) throw refuse('manifest.invalid', { faults: read.problems });
  return read;
}
