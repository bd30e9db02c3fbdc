// A manifest: an app and one version of it.

import * as v from 'valibot';
import { checkValues, PROBLEMS_MAX } from './manifest-bounds.ts';
import {
  canonicalManifest,
  type Manifest,
  nestSpelling,
  type PointerMap,
  SPELLING_CHECKS,
} from './manifest-canonical.ts';
import { MANIFEST_CHECKS } from './manifest-checks.ts';
import { faultIf, faultsOf, placesAbove } from './manifest-faults.ts';
import { REPOSITORY_CHECKS, withoutHosts } from './manifest-repositories.ts';
import { ManifestAsSent } from './manifest-schema.ts';
import { Steps } from './steps.ts';
import type { InputFault } from '../platform/errors.ts';
import { objectsOnly } from '../platform/objects-only.ts';

export type { Manifest } from './manifest-canonical.ts';

/**
 * The manifest in canonical form, or everything that is wrong with it, where the sender wrote it. It never throws,
 * whatever is sent, and reads what it once gave back to the same again.
 */
export function readManifest(
  input: unknown,
  steps = new Steps(),
): { manifest: Manifest } | { problems: InputFault[] } {
  const values = checkValues(input);
  if (!values.isBounded) return { problems: values.faults };
  const read = readSpelled(nestSpelling(input), steps);
  const problems = [...values.faults, ...('problems' in read ? read.problems : [])];
  return 'problems' in read || problems.length > 0 ? refused(problems) : { manifest: read.manifest };
}

/** A manifest whose fields were put into app and version, and where each of them was written. */
export interface Spelled {
  nested: unknown;
  pointerOf: PointerMap;
}

/** Good by itself, with the way from a place in it to the place the sender wrote it at. */
export interface SentVersion {
  manifest: Manifest;
  pointerOf: PointerMap;
}

/** With the names of the platform's registry, its artifacts must lie there; without them, they lie wherever they say. */
export function readSpelled(
  { nested, pointerOf }: Spelled,
  steps: Steps,
  registryHosts?: readonly string[],
): SentVersion | { problems: InputFault[] } {
  const parsed = v.safeParse(objectsOnly(ManifestAsSent), nested);
  const faults = faultsOf(ManifestAsSent, nested, parsed.issues);
  const unread = placesAbove(faults.filter(({ isShape }) => isShape));
  const problems = faults.map(({ isShape: _isShape, pointer, ...fault }) => ({
    pointer: pointerOf(pointer),
    ...fault,
  }));
  if (faults.some(({ isShape, pointer }) => isShape && /^(?:\/app|\/version)?$/.test(pointer)))
    return { problems };
  const sent = withoutUnread(parsed.output as ManifestAsSent, unread);
  const { manifest: written, pointerOf: sentPointerOf } = canonicalManifest(sent);
  const manifest = registryHosts ? withoutHosts(written, registryHosts) : written;
  const checks = registryHosts ? [...MANIFEST_CHECKS, ...REPOSITORY_CHECKS] : MANIFEST_CHECKS;
  const isReadable = ({ reads }: { reads: string[] }): boolean => !reads.some((member) => unread.has(member));
  const found = [
    ...SPELLING_CHECKS.filter(isReadable).flatMap(({ find }) => find(sent)),
    ...checks.filter(isReadable).flatMap(({ find }) => find(manifest, steps)),
  ];
  const asWritten: PointerMap = (pointer) => pointerOf(sentPointerOf(pointer));
  problems.push(...found.map(({ pointer, ...fault }) => ({ pointer: asWritten(pointer), ...fault })));
  return problems.length > 0 ? { problems } : { manifest, pointerOf: asWritten };
}

export const refused = (problems: InputFault[]): { problems: InputFault[] } => ({
  problems: problems.slice(0, PROBLEMS_MAX),
});

/** Leaves out the members of app and version in which something has the wrong shape. */
function withoutUnread({ app, version }: ManifestAsSent, unread: ReadonlySet<string>): ManifestAsSent {
  const readable = <T extends object>(part: T, at: string): T =>
    Object.fromEntries(Object.entries(part).filter(([name]) => !unread.has(`${at}/${name}`))) as T;
  return { schema_version: 1, app: readable(app, '/app'), version: readable(version, '/version') };
}

/** What keeps a manifest from being promoted: every fault of readManifest, and what only a draft may omit. */
export function lintManifest(manifest: Manifest): InputFault[] {
  const read = readManifest(manifest);
  if ('problems' in read) return read.problems;
  const { artifacts, runtime_profile: profile } = read.manifest.version;
  const bound = new Set(artifacts.map(({ repository, digest }) => `${repository}@${digest}`));
  const digests = new Set(artifacts.map(({ digest }) => digest));
  return [
    ...artifacts.flatMap(({ digest }, index) =>
      faultIf(
        digest === undefined,
        `/version/artifacts/${index}/digest`,
        'Expected a digest: only a draft may omit it.',
        'Push the artifact and register the manifest again with the digest the registry returned.',
      ),
    ),
    ...(profile?.components ?? []).flatMap(({ image_ref }, index) =>
      faultIf(
        image_ref !== undefined && !bound.has(image_ref) && !digests.has(image_ref.split('@')[1]),
        `/version/runtime_profile/components/${index}/image_ref`,
        'Expected the digest of one of the artifacts: only signed and verified content may run.',
        'List the image under artifacts.',
      ),
    ),
  ];
}
