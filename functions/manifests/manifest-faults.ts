// Turns schema faults of a manifest into messages for the app team: where, what was expected, what to do.

import type * as v from 'valibot';
import { isReservedKey, pointerPart } from './manifest-bounds.ts';
import type { Manifest } from './manifest-canonical.ts';
import type { Steps } from './steps.ts';
import type { InputFault } from '../platform/errors.ts';

export interface Check {
  /** Members of app and version; the check runs where all of them could be read. */
  reads: string[];
  /** Pointers are those of the canonical manifest. */
  find: (manifest: Manifest, steps: Steps) => InputFault[];
}

/** Where artifacts are told of, in either way. */
export const ARTIFACTS = ['/version/artifacts', '/version/artifact_ref', '/version/artifact_kind'];

export function faultIf(isWrong: boolean, pointer: string, detail: string, hint?: string): InputFault[] {
  return isWrong ? [{ pointer, detail, ...(hint !== undefined && { hint }) }] : [];
}

/** Everything that stands in a list a second time. */
export function repeated(values: readonly unknown[], pointer: string, member = ''): InputFault[] {
  const seen = new Set<unknown>();
  return values.flatMap((value, index) => {
    const isRepeated = seen.has(value);
    seen.add(value);
    return faultIf(isRepeated, `${pointer}/${index}${member}`, 'Expected each entry only once in the list.');
  });
}

/** A name that must be declared elsewhere; an omitted name is no fault. */
export function unknownName(
  name: string | undefined,
  known: readonly string[],
  pointer: string,
  what: string,
): InputFault[] {
  const isUnknown = name !== undefined && !known.includes(name);
  const hint = known.length > 0 ? 'Check the spelling.' : 'None is declared: add one.';
  return faultIf(isUnknown, pointer, `Expected the name of ${what}.`, hint);
}

export function unknownNames(
  names: readonly string[],
  known: readonly string[],
  pointer: string,
  what: string,
): InputFault[] {
  return names.flatMap((name, index) => unknownName(name, known, `${pointer}/${index}`, what));
}

/** The launch parameters by name, as far as they are objects: whether their schemas hold is judged elsewhere. */
export function parametersOf({ version }: Manifest): Record<string, { type?: unknown }> {
  const properties = version.parameters?.['properties'];
  if (typeof properties !== 'object' || properties === null) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, (schema ?? {}) as { type?: unknown }]),
  );
}

export interface SchemaFault extends InputFault {
  /** The value has another shape than the schema's: nothing that reads it can go on. */
  isShape: boolean;
}

/** Every fault of a parse, and every field no schema knows, of which valibot names only the first. */
export function faultsOf(
  schema: v.GenericSchema,
  input: unknown,
  issues: readonly v.BaseIssue<unknown>[] = [],
): SchemaFault[] {
  const strays: SchemaFault[] = [];
  findStrays(schema, input, '', strays);
  // A list where an object belongs is one fault, not one for each field it lacks.
  const lists = new Set(strays.filter(({ isShape }) => isShape).map(({ pointer }) => pointer));
  const faults = issues
    .filter(({ expected }) => expected !== 'never')
    .map(faultOfIssue)
    .filter(({ pointer }) => lists.size === 0 || !pointersAbove(pointer).some((above) => lists.has(above)));
  return [...strays, ...faults];
}

/** Where something stands that one of the faults is in or at. */
export const placesAbove = (faults: readonly InputFault[]): Set<string> =>
  new Set(faults.flatMap(({ pointer }) => [pointer, ...pointersAbove(pointer)]));

/** `/a/b/c` is in `/a/b`, in `/a` and in the whole. */
function pointersAbove(pointer: string): string[] {
  const above: string[] = [];
  for (let end = pointer.lastIndexOf('/'); end >= 0; end = pointer.lastIndexOf('/', end - 1)) {
    above.push(pointer.slice(0, end));
    if (end === 0) break;
  }
  return above;
}

type AnySchema = v.GenericSchema & {
  entries?: Record<string, AnySchema>;
  item?: AnySchema;
  wrapped?: AnySchema;
};

function findStrays(schema: AnySchema, value: unknown, pointer: string, found: SchemaFault[]): void {
  if (schema.wrapped) return findStrays(schema.wrapped, value, pointer, found);
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    const { item } = schema;
    if (item)
      for (const [index, inner] of value.entries()) findStrays(item, inner, `${pointer}/${index}`, found);
    // valibot takes a list for an object: it has fields, too.
    else if (schema.type === 'strict_object' || schema.type === 'record')
      found.push({ pointer, detail: 'Expected an object.', isShape: true });
    return undefined;
  }
  const { entries } = schema;
  if (!entries) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const at = pointer + pointerPart(key);
    const field = Object.hasOwn(entries, key) ? entries[key] : undefined;
    if (field) findStrays(field, inner, at, found);
    else if (!isReservedKey(key))
      found.push({
        pointer: at,
        detail: 'This field is not allowed.',
        hint: hintFor(key, entries),
        isShape: false,
      });
  }
  return undefined;
}

const NO_HOST =
  'Remove it: an app has no access to its host. Declare what it needs in resources, ports and storage.';
const STORAGE_HINT = 'Declare it under runtime_profile.storage, at /workspace or /data.';
const IMAGE_HINT = 'Use image_ref with a digest, or artifact with the name of an artifact.';

/** Fields people bring from Compose, Kubernetes and Docker. */
const INSTEAD: Record<string, string> = {
  privileged: NO_HOST,
  cap_add: NO_HOST,
  capabilities: NO_HOST,
  security_opt: NO_HOST,
  securityContext: NO_HOST,
  devices: NO_HOST,
  network_mode: NO_HOST,
  host_network: NO_HOST,
  hostNetwork: NO_HOST,
  host_port: NO_HOST,
  hostPort: NO_HOST,
  host_path: NO_HOST,
  hostPath: NO_HOST,
  pid: NO_HOST,
  ipc: NO_HOST,
  user: NO_HOST,
  sysctls: NO_HOST,
  volumes: STORAGE_HINT,
  mounts: STORAGE_HINT,
  volumeMounts: STORAGE_HINT,
  image: IMAGE_HINT,
  tag: 'Tags can move: write the digest.',
  gpus: 'Use resources.gpu_count.',
  entrypoint: 'Use command.',
  healthcheck: 'Use health.',
  environment: 'Use env, a list of name and value.',
};

const FIELDS_SHOWN_MAX = 16;

function hintFor(key: string, entries: Record<string, unknown>): string {
  const names = Object.keys(entries);
  return (
    (Object.hasOwn(INSTEAD, key) ? INSTEAD[key] : undefined) ??
    (names.length <= FIELDS_SHOWN_MAX
      ? `Allowed fields: ${names.join(', ')}.`
      : 'Remove it or check its spelling; docs/manifest.md lists every field.')
  );
}

function faultOfIssue(issue: v.BaseIssue<unknown>): SchemaFault {
  const pointer = (issue.path ?? []).map(({ key }) => pointerPart(String(key))).join('');
  // A missing field differs from a wrong one by the last item of its path.
  if (issue.kind === 'schema' && (issue.path?.at(-1) as { origin?: string } | undefined)?.origin === 'key')
    return { pointer, detail: 'This field is required.', isShape: true };
  // An unknown word in a list of choices does not stop other checks, except for an unknown backend.
  const isWord =
    issue.type === 'picklist' &&
    typeof issue.input === 'string' &&
    !/\/(?:runtime_backend|runtime_profile\/kind)$/.test(pointer);
  const [expected = '', hint] = wordsFor(issue).split('\n');
  return {
    pointer,
    detail: `Expected ${expected.charAt(0).toLowerCase()}${expected.slice(1).replace(/\.$/, '')}.`,
    ...(hint !== undefined && { hint }),
    isShape: (issue.kind === 'schema' && !isWord) || isLongList(issue),
  };
}

/** What the checks do for each pair of entries is little for as many as are allowed, and endless for any number. */
const isLongList = ({ type, input }: v.BaseIssue<unknown>): boolean =>
  type === 'max_length' && Array.isArray(input);

const SHAPES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  strict_object: 'an object',
  record: 'an object',
};

function wordsFor(issue: v.BaseIssue<unknown>): string {
  const { type, input, requirement } = issue;
  const what = Array.isArray(input) ? 'items' : 'characters';
  if (type === 'string' && typeof input === 'number') return 'text\nPut quotes around it.';
  if (Object.hasOwn(SHAPES, type)) return SHAPES[type] ?? '';
  switch (type) {
    case 'max_length':
      return `at most ${String(requirement)} ${what}`;
    case 'min_length':
      return `at least ${String(requirement)} ${what}`;
    case 'non_empty':
      return 'text that is not empty';
    case 'integer':
      return 'a whole number';
    case 'min_value':
      return `at least ${String(requirement)}`;
    case 'max_value':
      return `at most ${String(requirement)}`;
    case 'picklist':
    case 'literal':
      return ownWords(issue) ?? `one of ${wordsOfExpected(issue)}`;
    default:
      return ownWords(issue) ?? 'another value';
  }
}

/** The schema's own words; valibot's would repeat the value. */
const ownWords = ({ message }: v.BaseIssue<unknown>): string | undefined =>
  message.startsWith('Invalid ') ? undefined : message;

/** From `("a" | "b")` to `a, b`. */
const wordsOfExpected = ({ expected }: v.BaseIssue<unknown>): string =>
  (expected ?? '')
    .replace(/^\(|\)$/g, '')
    .replaceAll('"', '')
    .replaceAll(' | ', ', ');
