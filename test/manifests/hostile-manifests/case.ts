// A manifest that must be refused: a good one with one thing in it changed, and where the refusal must point.

import { parseYaml } from '../../../functions/manifests/manifest-text.ts';
import { flatSample, fullSample, nestedSampleYaml } from '../sample-manifests.ts';

export interface HostileManifest {
  name: string;
  /** Which of the good ones it was; it is written in the spelling of that one. */
  sample: keyof typeof SAMPLES;
  /** What is set, by JSON pointer; an empty pointer is the whole manifest. */
  at: string;
  /** Nothing: it is taken away. */
  value?: unknown;
  /** Where the refusal points; the place that was changed, unless said. */
  pointer?: string;
  /** Other places it may name besides, as the change makes them wrong too. */
  also?: string[];
}

const SAMPLES = {
  flat: flatSample,
  full: fullSample,
  slurm: () => parseYaml(nestedSampleYaml),
} satisfies Record<string, () => unknown>;

export function manifestOf({ sample, at, value }: HostileManifest): unknown {
  if (at === '') return value;
  const manifest: unknown = SAMPLES[sample]();
  const keys = at.slice(1).split('/').map(unescaped);
  const last = keys.pop() ?? '';
  let parent = manifest as Record<string, unknown>;
  for (const key of keys) {
    if (parent[key] === undefined) throw new Error(`The sample has nothing at ${at}.`);
    parent = parent[key] as Record<string, unknown>;
  }
  if (value === undefined) delete parent[last];
  // As JSON.parse would: __proto__ is a name like any other.
  else Object.defineProperty(parent, last, { value, enumerable: true, writable: true, configurable: true });
  return manifest;
}

const unescaped = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~');
