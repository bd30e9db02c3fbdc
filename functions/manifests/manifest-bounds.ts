// The first checks of a manifest: its size, and whether every value can be stored and shown. Nothing here is recursive,
// so nesting cannot exhaust the stack.

import type { InputFault } from '../platform/errors.ts';

export const MANIFEST_DEPTH_MAX = 32;
const MANIFEST_NODES_MAX = 20_000;
const MANIFEST_BYTES_MAX = 256 * 1024;
const KEY_CHARACTERS_MAX = 100;

export interface Bounds {
  /** Of objects and lists in each other. */
  depth: number;
  /** Values of every kind. */
  nodes: number;
  /** Of all keys and texts, in UTF-8. */
  bytes: number;
}

const MANIFEST_BOUNDS: Bounds = {
  depth: MANIFEST_DEPTH_MAX,
  nodes: MANIFEST_NODES_MAX,
  bytes: MANIFEST_BYTES_MAX,
};

/** The same for schemas and for values that are held against them. */
export const SCHEMA_BOUNDS: Bounds = { depth: 20, nodes: 10_000, bytes: 64 * 1024 };

/** As many as somebody reads; correcting these shows the next. */
export const PROBLEMS_MAX = 100;

/** For all schemas of a manifest together with their own values, and for a value that is held against one. */
export const STEPS_MAX = 4_000_000;

interface Place {
  value: unknown;
  key: string;
  depth: number;
  parent?: Place;
}

/** The first bound the value exceeds. Work ends there: it is never more than the bounds allow. */
export function exceededBound(root: unknown, bounds: Bounds): InputFault | undefined {
  let [nodes, bytes] = [0, 0];
  for (const place of places(root)) {
    const { value, key, depth } = place;
    bytes += bytesOf(key) + (typeof value === 'string' ? bytesOf(value) : 1);
    if (++nodes > bounds.nodes) return { pointer: '', detail: `Expected at most ${bounds.nodes} values.` };
    if (bytes > bounds.bytes)
      return { pointer: '', detail: `Expected at most ${bounds.bytes} bytes of text.` };
    if (typeof value === 'object' && value !== null && depth >= bounds.depth)
      return { pointer: pointerTo(place), detail: `Expected at most ${bounds.depth} levels.` };
  }
  return undefined;
}

/** Whether the manifest can be read further, and every value that is not allowed anywhere. */
export function checkValues(manifest: unknown): { isBounded: boolean; faults: InputFault[] } {
  const exceeded = exceededBound(manifest, MANIFEST_BOUNDS);
  if (exceeded) return { isBounded: false, faults: [exceeded] };
  const faults: InputFault[] = [];
  for (const place of places(manifest)) {
    const fault = faultOfKey(place) ?? faultOfValue(place.value);
    if (fault) faults.push({ pointer: pointerTo(place), ...fault });
    if (faults.length >= PROBLEMS_MAX) break;
  }
  return { isBounded: true, faults };
}

/** Every value, outer ones before what they hold; a list or object is opened only when the next one is asked for. */
function* places(root: unknown): Generator<Place> {
  const pending: Place[] = [{ value: root, key: '', depth: 0 }];
  for (let place = pending.pop(); place; place = pending.pop()) {
    yield place;
    const { value, depth } = place;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value).toReversed())
      pending.push({ value: inner, key, depth: depth + 1, parent: place });
  }
}

type Fault = Omit<InputFault, 'pointer'>;

/** Names every JavaScript object has: as keys they are an attack or an accident. */
const RESERVED_KEYS = new Set(['prototype', ...Object.getOwnPropertyNames(Object.prototype)]);

export const isReservedKey = (key: string): boolean => RESERVED_KEYS.has(key);

function faultOfKey({ key, parent }: Place): Fault | undefined {
  if (!parent || Array.isArray(parent.value)) return undefined;
  if (isReservedKey(key))
    return { detail: 'This name is reserved and cannot be used for a field.', hint: 'Choose another name.' };
  if (key.length > KEY_CHARACTERS_MAX)
    return { detail: `Expected a name of at most ${KEY_CHARACTERS_MAX} characters.` };
  return UNPRINTABLE.test(key) ? { detail: 'Expected a name without control characters.' } : undefined;
}

function faultOfValue(value: unknown): Fault | undefined {
  if (typeof value === 'string') return faultOfText(value);
  if (typeof value === 'number') return isKeepable(value) ? undefined : UNKEEPABLE;
  if (value === null || typeof value === 'boolean' || Array.isArray(value)) return undefined;
  const isPlain =
    typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value));
  return isPlain ? undefined : { detail: 'Expected a value JSON can express.' };
}

/** The store keeps no more digits than a double, and no smaller exponents than these. */
function isKeepable(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= 1e-100 && size <= Number.MAX_SAFE_INTEGER);
}
const UNKEEPABLE = {
  detail: `Expected a number from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}.`,
};

// Terminals interpret control characters, and bidirectional controls can hide text.
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** Patterns of well-known secrets, each matched in linear time. */
const SECRETS = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY/,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}/,
  /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}/,
  /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20}/,
  /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9]{20}/,
  /(?<![A-Za-z0-9])glpat-[\w-]{20}/,
  /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{20}/,
  /(?<![A-Za-z0-9])sk-(?:proj-|ant-(?:api\d\d-)?)?[A-Za-z0-9]{20}/,
  /(?<![A-Za-z0-9])xox[abprs]-[A-Za-z0-9-]{10}/,
  /(?<![A-Za-z0-9])AIza[\w-]{35}/,
  /:\/\/[^\s/:@]{1,64}:[^\s/@]{1,64}@/,
];

function faultOfText(text: string): Fault | undefined {
  if (!text.isWellFormed()) return { detail: 'Expected valid Unicode text.' };
  if (UNPRINTABLE.test(text)) return { detail: 'Expected text without control characters.' };
  if (SECRETS.some((shape) => shape.test(text)))
    return {
      detail: 'This looks like a secret, and everyone can read a manifest.',
      hint: 'Revoke it, declare it under secrets, and let people choose the credential at launch.',
    };
  return undefined;
}

function pointerTo(place: Place): string {
  const keys: string[] = [];
  for (let at: Place | undefined = place; at?.parent; at = at.parent) keys.push(at.key);
  return keys.toReversed().map(pointerPart).join('');
}

/** RFC 6901. A name that is too long is cut: it is at fault anyway, and is not sent back whole. */
export const pointerPart = (key: string | number): string =>
  `/${String(key).slice(0, KEY_CHARACTERS_MAX).replaceAll('~', '~0').replaceAll('/', '~1')}`;

function bytesOf(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    // Each half of a surrogate pair makes two of its four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
  }
  return bytes;
}
