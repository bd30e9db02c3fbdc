// The part of JSON Schema 2020-12 app teams may use, and whether a value fits such a schema. Everything here is bounded:
// how deep and how large a schema and a value are, and how many steps the check may take.

import type { InputFault } from '../platform/errors.ts';
import { exceededBound, pointerPart, PROBLEMS_MAX, SCHEMA_BOUNDS } from './manifest-bounds.ts';
import { compilePattern, matchPattern } from './pattern.ts';
import { COST, Steps, TooManySteps } from './steps.ts';

/** Of values a person can give. */
export const SCHEMA_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean'] as const;

export interface JsonSchema {
  $schema?: string;
  type: (typeof SCHEMA_TYPES)[number];
  title?: string;
  description?: string;
  deprecated?: boolean;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean;
  minProperties?: number;
  maxProperties?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
}

export const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

type Fault = Omit<InputFault, 'pointer'>;
type Judge = (value: unknown, work: Work) => Fault | undefined;

const expected = (what: string, hint?: string): Fault => ({
  detail: `Expected ${what}.`,
  ...(hint !== undefined && { hint }),
});

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText =
  (max: number): Judge =>
  (value) =>
    typeof value === 'string' && value.length <= max
      ? undefined
      : expected(`text of at most ${max} characters`);
const isFlag: Judge = (value) => (typeof value === 'boolean' ? undefined : expected('true or false'));
const isNumber: Judge = (value) => (typeof value === 'number' ? undefined : expected('a number'));
const isCount: Judge = (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? undefined
    : expected('a whole number, zero or more');
const isPositive: Judge = (value) =>
  typeof value === 'number' && value > 0 ? undefined : expected('a number above zero');
const isAnything: Judge = () => undefined;

export const SCHEMA_FORMATS: Record<string, RegExp> = {
  date: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/,
  'date-time':
    /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/,
  email: /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}$/,
  hostname:
    /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?){0,30}$/,
  ipv4: /^(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/,
  uri: /^[A-Za-z][A-Za-z0-9+.-]{0,30}:[!-~]{1,2000}$/,
  uuid: /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/,
};

/** A keyword, the types it belongs to, and what may stand after it. */
const KEYWORDS: Record<string, { of: readonly string[]; judge: Judge }> = {
  type: {
    of: SCHEMA_TYPES,
    judge: (value) =>
      SCHEMA_TYPES.includes(value as never) ? undefined : expected(`one of ${SCHEMA_TYPES.join(', ')}`),
  },
  title: { of: SCHEMA_TYPES, judge: isText(200) },
  description: { of: SCHEMA_TYPES, judge: isText(2000) },
  deprecated: { of: SCHEMA_TYPES, judge: isFlag },
  default: { of: SCHEMA_TYPES, judge: isAnything },
  const: { of: SCHEMA_TYPES, judge: isAnything },
  enum: {
    of: SCHEMA_TYPES,
    judge: (value, work) =>
      Array.isArray(value) && value.length >= 1 && value.length <= 200 && isUnique(value, work)
        ? undefined
        : expected('a list of 1 to 200 different values'),
  },
  properties: {
    of: ['object'],
    judge: (value) =>
      isRecord(value) && Object.keys(value).length <= 100
        ? undefined
        : expected('an object of at most 100 schemas'),
  },
  required: {
    of: ['object'],
    judge: (value, work) =>
      Array.isArray(value) && value.every((name) => typeof name === 'string') && isUnique(value, work)
        ? undefined
        : expected('a list of different names'),
  },
  additionalProperties: {
    of: ['object'],
    judge: (value, work) =>
      isFlag(value, work) &&
      expected('true or false', 'A schema for additional properties is not part of the supported subset.'),
  },
  minProperties: { of: ['object'], judge: isCount },
  maxProperties: { of: ['object'], judge: isCount },
  items: {
    of: ['array'],
    judge: (value) => (isRecord(value) ? undefined : expected('one schema for all items')),
  },
  minItems: { of: ['array'], judge: isCount },
  maxItems: { of: ['array'], judge: isCount },
  uniqueItems: { of: ['array'], judge: isFlag },
  minLength: { of: ['string'], judge: isCount },
  maxLength: { of: ['string'], judge: isCount },
  pattern: { of: ['string'], judge: faultOfPattern },
  format: {
    of: ['string'],
    judge: (value) =>
      typeof value === 'string' && Object.hasOwn(SCHEMA_FORMATS, value)
        ? undefined
        : expected(`one of ${Object.keys(SCHEMA_FORMATS).join(', ')}`),
  },
  minimum: { of: ['number', 'integer'], judge: isNumber },
  maximum: { of: ['number', 'integer'], judge: isNumber },
  exclusiveMinimum: { of: ['number', 'integer'], judge: isNumber },
  exclusiveMaximum: { of: ['number', 'integer'], judge: isNumber },
  multipleOf: { of: ['number', 'integer'], judge: isPositive },
};

/** For keywords people know from elsewhere: what to do instead. */
const INSTEAD: Record<string, string> = {
  $ref: 'Write the schema inline where it is used; references are not followed.',
  $dynamicRef: 'Write the schema inline where it is used; references are not followed.',
  $defs: 'Write each schema inline where it is used.',
  definitions: 'Write each schema inline where it is used.',
  $data: 'Write bounds as numbers in the schema.',
  anyOf: 'For a choice of values use enum.',
  oneOf: 'For a choice of values use enum.',
  allOf: 'Put all keywords into one schema.',
  patternProperties: 'Name each property under properties.',
  propertyNames: 'Name each property under properties.',
  examples: 'Use default, or a placeholder in ui_hints.',
};

const LOWER_AND_UPPER: [string, string][] = [
  ['minimum', 'maximum'],
  ['exclusiveMinimum', 'exclusiveMaximum'],
  ['minimum', 'exclusiveMaximum'],
  ['exclusiveMinimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
];

/** One check: what it found so far, what it may still do, and what it prepared to use for every value. */
interface Work {
  faults: InputFault[];
  /** With so many faults it ends. */
  faultsMax: number;
  steps: Steps;
  /** Where it is. */
  place: string;
  /** By source, as several schemas may have one. */
  patterns: Map<string, ReturnType<typeof compilePattern>>;
  choices: Map<JsonSchema, Choices | undefined>;
}

interface Choices {
  canonical: Set<string>;
  /** The words for a value that is none of them. */
  fault: Fault;
}

/** Ends a check that has found enough. */
class EnoughFaults extends Error {}

/** Everything that is wrong with a schema; pointers begin at the schema. */
export function checkSchema(schema: unknown, steps = new Steps()): InputFault[] {
  return check(schema, steps, (work) => checkNode(schema, '', work));
}

/** Everything that keeps a value from fitting a schema that passed checkSchema; pointers begin at the value. */
export function validateValue(schema: JsonSchema, value: unknown, steps = new Steps()): InputFault[] {
  return check(value, steps, (work) => checkValue(schema, value, '', work));
}

function check(sent: unknown, steps: Steps, find: (work: Work) => void): InputFault[] {
  const exceeded = exceededBound(sent, SCHEMA_BOUNDS);
  if (exceeded) return [exceeded];
  const work: Work = {
    faults: [],
    faultsMax: PROBLEMS_MAX,
    steps,
    place: '',
    patterns: new Map(),
    choices: new Map(),
  };
  try {
    find(work);
  } catch (error) {
    // What was not checked has not passed.
    if (error instanceof TooManySteps) work.faults.push({ pointer: work.place, ...TOO_MANY_STEPS });
    else if (!(error instanceof EnoughFaults)) throw error;
  }
  return work.faults;
}

const TOO_MANY_STEPS: Fault = {
  detail: 'The schema needs too many steps to check.',
  hint: 'Simplify it: shorter patterns, fewer and shorter choices, smaller values.',
};

function report(work: Work, pointer: string, fault: Fault): void {
  work.steps.take(COST.fault + pointer.length);
  work.faults.push({ pointer, ...fault });
  if (work.faults.length >= work.faultsMax) throw new EnoughFaults();
}

function checkNode(node: unknown, pointer: string, work: Work): void {
  work.place = pointer;
  work.steps.take(COST.value);
  if (!isRecord(node)) return report(work, pointer, expected('a schema'));
  const before = work.faults.length;
  const { type } = node;
  if (type === undefined) report(work, `${pointer}/type`, expected('a type'));
  for (const [name, value] of Object.entries(node)) {
    work.steps.take(COST.value);
    const fault = faultOfKeyword(name, value, type, pointer === '', work);
    if (fault) report(work, pointer + pointerPart(name), fault);
  }
  if (work.faults.length > before) return descend(node, pointer, work);
  checkBounds(node, pointer, work);
  checkRequired(node, pointer, work);
  descend(node, pointer, work);
  // Only a valid schema can check its own default, enum and const values.
  if (work.faults.length === before) checkOwnValues(node as unknown as JsonSchema, pointer, work);
}

function faultOfKeyword(
  name: string,
  value: unknown,
  type: unknown,
  isRoot: boolean,
  work: Work,
): Fault | undefined {
  if (name === '$schema' && isRoot) return value === SCHEMA_DIALECT ? undefined : expected(SCHEMA_DIALECT);
  const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
  if (!keyword)
    return {
      detail: 'This keyword is not part of the supported subset.',
      hint:
        (Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : undefined) ??
        'Remove it; docs/manifest.md lists the keywords.',
    };
  if (typeof type === 'string' && SCHEMA_TYPES.includes(type as never) && !keyword.of.includes(type))
    return { detail: `This keyword belongs to type ${keyword.of.join(' or ')}.` };
  return keyword.judge(value, work);
}

function faultOfPattern(value: unknown, work: Work): Fault | undefined {
  if (typeof value !== 'string') return expected('a regular expression as text');
  const compiled = compiledOnce(value, work);
  if ('pattern' in compiled) return undefined;
  return expected(`in a pattern ${compiled.expected}`, 'docs/manifest.md lists what a pattern may contain.');
}

function compiledOnce(source: string, work: Work): ReturnType<typeof compilePattern> {
  const known = work.patterns.get(source);
  if (known) return known;
  const compiled = compilePattern(source);
  work.steps.take(COST.pattern + ('pattern' in compiled ? COST.state * compiled.pattern.states.length : 0));
  work.patterns.set(source, compiled);
  return compiled;
}

function checkBounds(node: Record<string, unknown>, pointer: string, work: Work): void {
  for (const [lower, upper] of LOWER_AND_UPPER) {
    const [min, max] = [node[lower], node[upper]];
    if (typeof min !== 'number' || typeof max !== 'number') continue;
    const isEmpty = min > max || (min === max && `${lower}${upper}`.includes('exclusive'));
    if (isEmpty) report(work, `${pointer}/${upper}`, expected(`more than ${lower}`));
  }
}

function checkRequired(node: Record<string, unknown>, pointer: string, work: Work): void {
  const properties = node['properties'] ?? {};
  for (const [index, name] of ((node['required'] ?? []) as string[]).entries()) {
    work.steps.take(COST.member);
    if (!Object.hasOwn(properties, name))
      report(work, `${pointer}/required/${index}`, expected('the name of a property'));
  }
}

const PROPERTY_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

function descend(node: Record<string, unknown>, pointer: string, work: Work): void {
  if (isRecord(node['properties']))
    for (const [name, inner] of Object.entries(node['properties'])) {
      const at = `${pointer}/properties${pointerPart(name)}`;
      if (!PROPERTY_NAME.test(name))
        report(work, at, expected('a name of letters, digits and _ . -, of at most 64 characters'));
      checkNode(inner, at, work);
    }
  if (isRecord(node['items'])) checkNode(node['items'], `${pointer}/items`, work);
}

function checkOwnValues(schema: JsonSchema, pointer: string, work: Work): void {
  const { default: usual, enum: choices, const: only, ...rest } = schema;
  for (const [index, choice] of (choices ?? []).entries())
    checkOwnValue(rest, choice, `${pointer}/enum/${index}`, work);
  if (only !== undefined) checkOwnValue({ ...rest, enum: choices }, only, `${pointer}/const`, work);
  if (usual !== undefined)
    checkOwnValue({ ...rest, enum: choices, const: only }, usual, `${pointer}/default`, work);
}

/** Reports a wrong value inside a schema at the value itself, not at the part of it that does not match. */
function checkOwnValue(schema: JsonSchema, value: unknown, pointer: string, work: Work): void {
  work.place = pointer;
  const own: Work = { ...work, faults: [], faultsMax: 1 };
  try {
    checkValue(schema, value, '', own);
  } catch (error) {
    if (!(error instanceof EnoughFaults)) throw error;
    report(work, pointer, expected('a value that matches the schema it belongs to'));
  }
}

function checkValue(schema: JsonSchema, value: unknown, pointer: string, work: Work): void {
  work.place = pointer;
  work.steps.take(COST.value);
  const fault =
    faultOfType(schema, value) ?? faultOfChoice(schema, value, work) ?? faultOfSize(schema, value, work);
  if (fault) report(work, pointer, fault);
  if (schema.type === 'object' && isRecord(value)) checkMembers(schema, value, pointer, work);
  if (schema.type === 'array' && Array.isArray(value) && schema.items)
    for (const [index, item] of value.entries()) checkValue(schema.items, item, `${pointer}/${index}`, work);
}

function checkMembers(schema: JsonSchema, value: Record<string, unknown>, pointer: string, work: Work): void {
  for (const name of schema.required ?? []) {
    work.steps.take(COST.member);
    if (!Object.hasOwn(value, name))
      report(work, pointer + pointerPart(name), { detail: 'This field is required.' });
  }
  for (const [name, member] of Object.entries(value)) {
    work.steps.take(COST.member);
    const inner =
      schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (inner) checkValue(inner, member, pointer + pointerPart(name), work);
    else if (schema.additionalProperties === false)
      report(work, pointer + pointerPart(name), { detail: 'This field is not allowed.' });
  }
}

/** What each type is, and what it is called. */
const TYPE_TESTS: Record<JsonSchema['type'], [(value: unknown) => boolean, string]> = {
  object: [isRecord, 'an object'],
  array: [Array.isArray, 'a list'],
  string: [(value) => typeof value === 'string', 'text'],
  number: [(value) => Number.isFinite(value), 'a number'],
  integer: [(value) => Number.isInteger(value), 'a whole number'],
  boolean: [(value) => typeof value === 'boolean', 'true or false'],
};

function faultOfType({ type }: JsonSchema, value: unknown): Fault | undefined {
  const [isOfType, name] = TYPE_TESTS[type];
  return isOfType(value) ? undefined : expected(name);
}

function faultOfChoice(schema: JsonSchema, value: unknown, work: Work): Fault | undefined {
  const choices = choicesOnce(schema, work);
  return !choices || choices.canonical.has(countedJson(value, work)) ? undefined : choices.fault;
}

function choicesOnce(schema: JsonSchema, work: Work): Choices | undefined {
  if (work.choices.has(schema)) return work.choices.get(schema);
  const listed = schema.const === undefined ? schema.enum : [schema.const];
  const choices = listed && {
    canonical: new Set(listed.map((choice) => countedJson(choice, work))),
    fault: faultOfNone(listed),
  };
  work.choices.set(schema, choices);
  return choices;
}

function faultOfNone(choices: unknown[]): Fault {
  const named = choices.map((choice) => JSON.stringify(choice)).join(', ');
  return expected(named.length <= 200 ? `one of ${named}` : 'one of the values the schema lists');
}

function faultOfSize(schema: JsonSchema, value: unknown, work: Work): Fault | undefined {
  if (typeof value === 'string') return faultOfString(schema, value, work);
  if (typeof value === 'number') return faultOfNumber(schema, value);
  if (Array.isArray(value)) {
    if (schema.uniqueItems === true && !isUnique(value, work)) return expected('each item only once');
    return faultOfCount(value.length, schema.minItems, schema.maxItems, 'items');
  }
  if (isRecord(value))
    return faultOfCount(Object.keys(value).length, schema.minProperties, schema.maxProperties, 'fields');
  return undefined;
}

function faultOfCount(count: number, min = 0, max = Infinity, what: string): Fault | undefined {
  if (count < min) return expected(`at least ${min} ${what}`);
  return count > max ? expected(`at most ${max} ${what}`) : undefined;
}

function faultOfString(schema: JsonSchema, value: string, work: Work): Fault | undefined {
  work.steps.take(value.length);
  const length = Array.from(value).length;
  const fault = faultOfCount(length, schema.minLength, schema.maxLength, 'characters');
  if (fault) return fault;
  if (schema.format !== undefined && !SCHEMA_FORMATS[schema.format]?.test(value))
    return expected(`a ${schema.format}`);
  if (schema.pattern === undefined) return undefined;
  const compiled = compiledOnce(schema.pattern, work);
  if (!('pattern' in compiled)) return expected('a valid pattern');
  const { matches, steps } = matchPattern(compiled.pattern, value, work.steps.left);
  work.steps.take(steps);
  return matches ? undefined : expected(`text that matches ${schema.pattern}`);
}

function faultOfNumber(schema: JsonSchema, value: number): Fault | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined && value < minimum) return expected(`at least ${minimum}`);
  if (maximum !== undefined && value > maximum) return expected(`at most ${maximum}`);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return expected(`more than ${exclusiveMinimum}`);
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return expected(`less than ${exclusiveMaximum}`);
  if (multipleOf === undefined) return undefined;
  // 0.3 is a multiple of 0.1, though not to the last bit.
  const times = value / multipleOf;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times))
    ? undefined
    : expected(`a multiple of ${multipleOf}`);
}

const isUnique = (values: unknown[], work: Work): boolean =>
  new Set(values.map((value) => countedJson(value, work))).size === values.length;

/** Its steps are taken before it is written: a value holds no more than the bounds allow, but may be asked for often. */
function countedJson(value: unknown, work: Work): string {
  if (typeof value !== 'object' || value === null) {
    work.steps.take(COST.value + (typeof value === 'string' ? value.length : 0));
    return JSON.stringify(value);
  }
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const each = pending.pop();
    work.steps.take(COST.written + (typeof each === 'string' ? each.length : 0));
    if (typeof each === 'object' && each !== null)
      for (const [name, inner] of Object.entries(each)) {
        work.steps.take(name.length);
        pending.push(inner);
      }
  }
  return canonicalJson(value);
}

/** The same text for the same value, in whatever order an object's members came. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
