// A schema as the rows of a table: every member by its path, with what it may hold.

import { type OpenapiDocument, resolve, type Schema } from './document.ts';

export interface Field {
  /** As one would write it: `items[].name`. */
  path: string;
  type: string;
  isRequired: boolean;
  /** What it may hold, with references followed. */
  schema: Schema;
}

const DEPTH_MAX = 6;

export function fieldsOf(document: OpenapiDocument, schema: Schema, prefix = '', depth = 0): Field[] {
  const known = plain(document, schema);
  const alternatives = known.anyOf ?? known.oneOf;
  if (depth > DEPTH_MAX) return [];
  if (alternatives) return alternatives.flatMap((each) => fieldsOf(document, each, prefix, depth + 1));
  if (known.items) return fieldsOf(document, known.items, `${prefix}[]`, depth + 1);
  return Object.entries(known.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const isRequired = known.required?.includes(name) ?? false;
    const field = { path, type: typeOf(document, member), isRequired, schema: plain(document, member) };
    return [field, ...fieldsOf(document, member, path, depth + 1)];
  });
}

export function typeOf(document: OpenapiDocument, schema: Schema): string {
  const known = plain(document, schema);
  const alternatives = known.anyOf ?? known.oneOf;
  if (alternatives) return [...new Set(alternatives.map((each) => typeOf(document, each)))].join(' or ');
  if (known.const !== undefined) return JSON.stringify(known.const);
  if (known.items) return `list of ${typeOf(document, known.items)}`;
  const type = [known.type ?? 'anything'].flat().join(' or ');
  return known.format ? `${type} (${known.format})` : type;
}

/** What a value must obey to be accepted. */
export function rulesOf(schema: Schema): string[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, minProperties } = schema;
  return [
    ...valuesOf(schema),
    span(minLength, maxLength, 'characters'),
    span(minimum, maximum, ''),
    span(minItems, maxItems, 'items'),
    minProperties !== undefined && `at least ${minProperties} of its members`,
    schema.pattern && `matches ${schema.pattern}`,
    schema.default !== undefined && `${JSON.stringify(schema.default)} if omitted`,
    schema.additionalProperties === false && schema.properties && 'no other members',
  ].filter((rule) => typeof rule === 'string');
}

/** The values it can have, where these are known. */
export function valuesOf(schema: Schema): string[] {
  return schema.enum ? [`one of ${schema.enum.map((each) => JSON.stringify(each)).join(', ')}`] : [];
}

function span(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  const bounds =
    min === undefined ? `at most ${max}` : max === undefined ? `at least ${min}` : `${min} to ${max}`;
  return `${bounds} ${unit}`.trim();
}

/** Without references, and with `null` as one more kind of value instead of an alternative to look into. */
function plain(document: OpenapiDocument, schema: Schema): Schema {
  const known = resolve<Schema>(document, schema);
  const others = known.anyOf?.filter(({ type }) => type !== 'null');
  if (!known.anyOf || !others || others.length !== 1 || others.length === known.anyOf.length) return known;
  const { anyOf: _, ...rest } = known;
  const inner = plain(document, others[0] as Schema);
  return { ...rest, ...inner, type: [...[inner.type ?? []].flat(), 'null'] };
}
