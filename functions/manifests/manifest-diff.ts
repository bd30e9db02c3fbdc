// What changed between two versions of an app, and what of it can break those who use it. Pointers lead into the
// canonical manifest: the later one, or where something went, the earlier.

import * as v from 'valibot';
import { canonicalJson } from './json-schema.ts';
import { pointerPart } from './manifest-bounds.ts';
import { whyBreaking } from './manifest-breaking.ts';
import type { Manifest } from './manifest-canonical.ts';

/** Shown where it is short: a number, a word, a line. */
const Shown = v.optional(v.union([v.string(), v.number(), v.boolean()]));

const ManifestChange = v.object({
  pointer: v.string(),
  kind: v.picklist(['added', 'removed', 'changed']),
  before: Shown,
  after: Shown,
  breaking: v.boolean(),
  /** What it can break; only where it can. */
  why: v.optional(v.string()),
});
type ManifestChange = v.InferOutput<typeof ManifestChange>;

export const ManifestDiff = v.object({
  /** Whether anything of it can break those who use the earlier version. */
  breaking: v.boolean(),
  changes: v.array(ManifestChange),
});
export type ManifestDiff = v.InferOutput<typeof ManifestDiff>;

const CHANGES_MAX = 1000;
const SHOWN_CHARACTERS_MAX = 200;

/** A difference as it is found; `shape` is the pointer with * in place of each index of a list. */
export interface Difference {
  pointer: string;
  shape: string;
  kind: ManifestChange['kind'];
  before?: unknown;
  after?: unknown;
}

/** From the first manifest to the second. */
export function diffManifests(before: Manifest, after: Manifest): ManifestDiff {
  const found: Difference[] = [];
  compare(comparable(before), comparable(after), '', '', { found, numberOf: numberEqually() });
  const changes = found.map((difference) => {
    const why = whyBreaking(difference, after);
    return {
      pointer: difference.pointer,
      kind: difference.kind,
      ...shown('before', difference.before),
      ...shown('after', difference.after),
      breaking: why !== undefined,
      ...(why !== undefined && { why }),
    };
  });
  const isBreaking = ({ breaking }: ManifestChange): boolean => breaking;
  // What breaks is never among what is left off.
  const kept =
    changes.length <= CHANGES_MAX
      ? changes
      : [...changes.filter(isBreaking), ...changes.filter((change) => !isBreaking(change))].slice(
          0,
          CHANGES_MAX,
        );
  return { breaking: changes.some(isBreaking), changes: kept };
}

/** Without what differs between any two versions, and with empty schemas where there are none. */
function comparable({ app, version }: Manifest): unknown {
  const { version: _number, release_notes: _notes, ...rest } = version;
  const empty = { type: 'object', properties: {}, required: [] };
  return {
    app,
    version: {
      ...rest,
      parameters: { ...empty, additionalProperties: false, ...rest.parameters },
      placement_schema: { ...empty, ...rest.placement_schema },
      config_schema: { ...empty, ...rest.config_schema },
      runtime_requirements: rest.runtime_requirements ?? {},
    },
  };
}

interface Work {
  found: Difference[];
  /** The same number for equal values. */
  numberOf: (value: unknown) => number;
}

/**
 * Numbers values by what they say, each of them once: comparing everything at every level would take as many times
 * longer as there are levels.
 */
function numberEqually(): Work['numberOf'] {
  const byText = new Map<string, number>();
  const byObject = new Map<object, number>();
  const numberOf = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return numberOfText(canonicalJson(value));
    const known = byObject.get(value);
    if (known !== undefined) return known;
    const inner = Array.isArray(value)
      ? value.map(numberOf)
      : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, numberOf(member)]));
    // No JSON begins with these words.
    const number = numberOfText(`${Array.isArray(value) ? 'list' : 'members'} ${canonicalJson(inner)}`);
    byObject.set(value, number);
    return number;
  };
  const numberOfText = (text: string): number => {
    const number = byText.get(text) ?? byText.size;
    byText.set(text, number);
    return number;
  };
  return numberOf;
}

function compare(before: unknown, after: unknown, pointer: string, shape: string, work: Work): void {
  const { found, numberOf } = work;
  if (numberOf(before) === numberOf(after)) return undefined;
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(before, after, pointer, shape, work);
  if (!isRecord(before) || !isRecord(after)) {
    found.push({ pointer, shape, kind: 'changed', before, after });
    return undefined;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const at = { pointer: pointer + pointerPart(key), shape: shape + pointerPart(key) };
    if (!Object.hasOwn(after, key)) found.push({ ...at, kind: 'removed', before: before[key] });
    else if (!Object.hasOwn(before, key)) found.push({ ...at, kind: 'added', after: after[key] });
    else compare(before[key], after[key], at.pointer, at.shape, work);
  }
  return undefined;
}

/** Things that have names are the same thing wherever they stand in their list. */
function compareLists(before: unknown[], after: unknown[], pointer: string, shape: string, work: Work): void {
  const { found } = work;
  const start = found.length;
  const earlier = new Map(before.map((item, index) => [identityOf(item, work), { item, index }]));
  const later = new Map(after.map((item, index) => [identityOf(item, work), { item, index }]));
  for (const [identity, { item, index }] of later) {
    const at = { pointer: `${pointer}/${index}`, shape: `${shape}/*` };
    const same = earlier.get(identity);
    if (same) compare(same.item, item, at.pointer, at.shape, work);
    else found.push({ ...at, kind: 'added', after: item });
  }
  for (const [identity, { item, index }] of earlier)
    if (!later.has(identity))
      found.push({ pointer: `${pointer}/${index}`, shape: `${shape}/*`, kind: 'removed', before: item });
  if (found.length === start) found.push({ pointer, shape, kind: 'changed' });
}

function identityOf(item: unknown, { numberOf }: Work): string {
  if (!isRecord(item)) return String(numberOf(item));
  const { name, variant, container, protocol, parameter, role, unit } = item;
  // A port may have a name, but is known by its number.
  const parts = [
    container === undefined ? name : undefined,
    variant,
    container,
    protocol,
    parameter,
    role,
    unit,
  ];
  return parts.map((part) => numberOf(part ?? null)).join(' ');
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function shown<N extends string>(name: N, value: unknown): { [K in N]?: string | number | boolean } {
  const isShort =
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (typeof value === 'string' && value.length <= SHOWN_CHARACTERS_MAX);
  return (isShort ? { [name]: value } : {}) as { [K in N]?: string | number | boolean };
}
