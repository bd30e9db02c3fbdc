import type { Schema } from '../functions/docs/document.ts';
import type { SchemaDocument } from './manifest-schema.ts';

/** Marks the tables of fields in docs/manifest.md; the text between is generated. */
const BEGIN = '<!-- fields: made by npm run schemas -->';
const END = '<!-- end of fields -->';

/** The page with its tables generated again. */
export function withTables(page: string, document: SchemaDocument): string {
  const [before, rest = ''] = page.split(BEGIN);
  const [, after] = rest.split(END);
  if (before === undefined || after === undefined) throw new Error('The page has no place for the tables.');
  return `${before}${BEGIN}\n\n${tablesOf(document).join('\n\n')}\n\n${END}${after}`;
}

/** One table for each object a manifest can hold, by where it stands. */
function tablesOf({ $defs }: SchemaDocument): string[] {
  const shown = new Set<string>();
  const tables: string[] = [];
  const show = (path: string, schema: Schema): void => {
    const { part, name } = resolve(schema, $defs);
    if (name === 'schema' || (name !== undefined && shown.has(name))) return;
    if (name !== undefined) shown.add(name);
    if (part.items) {
      show(`${path}[]`, part.items);
      return;
    }
    if (!part.properties) return;
    tables.push(`### \`${name === SHARED ? name : path}\``, tableOf(part));
    for (const [field, inner] of Object.entries(part.properties))
      if (name !== 'runtime_profile' || !isSaidOfComponents(field, inner, $defs))
        show(`${path}.${field}`, inner);
  };
  show('app', { $ref: '#/$defs/app' });
  show('version', { $ref: '#/$defs/version' });
  return tables;
}

/** Used in several places, so it has a table under its own name. */
const SHARED = 'resources';

/** A profile of one container has the fields of a component; one table is enough. */
function isSaidOfComponents(field: string, schema: Schema, { component }: Record<string, Schema>): boolean {
  return JSON.stringify(component?.properties?.[field]) === JSON.stringify(schema);
}

function resolve(schema: Schema, definitions: Record<string, Schema>): { part: Schema; name?: string } {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? { part: schema } : { part: definitions[name] ?? {}, name };
}

function tableOf({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, field]) => {
    const kind = [...boundsOf(field), ...usualOf(field)].join('; ');
    return `| \`${name}\` | ${required.includes(name) ? 'yes' : ''} | ${field.description ?? ''} | ${kind} |`;
  });
  return ['| field | required | meaning | bounds |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function boundsOf(field: Schema): string[] {
  if (field.$ref === '#/$defs/schema') return ['a JSON Schema, below'];
  if (field.$ref !== undefined) return [field.$ref.endsWith(`/${SHARED}`) ? `as \`${SHARED}\`` : 'an object'];
  if (field.enum) return [field.enum.map((word) => `\`${String(word)}\``).join(' ')];
  if (field.const !== undefined) return [`\`${JSON.stringify(field.const)}\``];
  switch (field.type) {
    case 'string':
      return [
        field.maxLength === undefined ? 'text' : `text of at most ${field.maxLength} characters`,
        ...(field.pattern === undefined ? [] : wordsOf(field.pattern)),
      ];
    case 'array':
      return [
        `${field.minItems ?? 0} to ${field.maxItems ?? ''} entries`,
        ...(field.items ? boundsOf(field.items).filter((bound) => bound !== 'an object') : []),
      ];
    case 'integer':
      return [`${field.minimum ?? ''} to ${field.maximum ?? ''}`];
    case 'number':
      return [`${field.minimum ?? ''} to ${field.maximum ?? ''}, with fractions`];
    case 'boolean':
      return ['`true` or `false`'];
    default:
      return ['an object'];
  }
}

/** Patterns in words are in the section on names; here only the plain ones are worth showing. */
const PATTERN_CHARACTERS_SHOWN_MAX = 40;

function wordsOf(pattern: string): string[] {
  if (pattern === '^[^\\n\\t]*$' || pattern === '^[^\\n\\t]+$') return ['one line'];
  const escaped = pattern.replaceAll('|', '\\|');
  return pattern.length <= PATTERN_CHARACTERS_SHOWN_MAX ? [`\`${escaped}\``] : [];
}

function usualOf({ default: usual }: Schema): string[] {
  const isWorthSaying =
    usual !== undefined && usual !== '' && JSON.stringify(usual) !== '[]' && JSON.stringify(usual) !== '{}';
  return isWorthSaying ? [`default \`${JSON.stringify(usual)}\``] : [];
}
