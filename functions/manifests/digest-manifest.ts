import { hash } from 'node:crypto';
import { canonicalJson } from './json-schema.ts';
import type { Manifest } from './manifest.ts';

/** The same for two manifests that say the same, in whatever order their members stand. */
export function digestManifest(manifest: Manifest): string {
  return `sha256:${hash('sha256', canonicalJson(manifest))}`;
}
