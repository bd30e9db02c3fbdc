import { toJsonSchemaDefs } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import type { Schema } from '../functions/docs/document.ts';
import { PAGE_MAX, PageQuery } from '../functions/platform/page.ts';
import type { RouteInFull } from './endpoints.ts';

/** The wire schemas of all routes: each once, under a name people recognise. */
export interface Schemas {
  components: Record<string, Schema>;
  /** Where the document has the schema an endpoint names. */
  refOf(schema: GenericSchema): Schema;
}

export function nameSchemas(all: RouteInFull[]): Schemas {
  const bodies = new Map<GenericSchema, string>();
  const replies = new Map<GenericSchema, string>();
  for (const { handler, endpoint } of byPlainness(all)) {
    const { body, reply } = endpoint.spec;
    if (body && !bodies.has(body)) bodies.set(body, capitalized(handler));
    if (reply && !replies.has(reply)) replies.set(reply, replyName(handler));
  }
  const names = new Map([...bodies, ...replies]);
  if (new Set(names.values()).size < names.size)
    throw new Error('Two schemas of the document have the same name.');
  return {
    components: { ...convert(bodies, 'input'), ...convert(replies, 'output') },
    refOf: (schema) => ({ $ref: refTo(names.get(schema) ?? '') }),
  };
}

/** The members of an object that comes in as text: of a path or a query. */
export function membersOf(
  schema: GenericSchema | undefined,
): { name: string; isRequired: boolean; schema: Schema }[] {
  if (!schema) return [];
  const { properties = {}, required = [] } =
    convert(new Map([[schema, 'members']]), 'input')['members'] ?? {};
  return Object.entries(properties).map(([name, member]) => ({
    name,
    isRequired: required.includes(name),
    schema: member,
  }));
}

/** What an event says, by itself: an AsyncAPI document speaks the JSON Schema of draft 7. */
export function eventSchemaOf(schema: GenericSchema): Schema {
  return convert(new Map([[schema, 'event']]), 'output', 'draft-07')['event'] ?? {};
}

// A schema is named after the route that gets the resource; other routes with the same reply use the same name.
function byPlainness(all: RouteInFull[]): RouteInFull[] {
  return [...all].sort((a, b) => Number(b.handler.startsWith('get')) - Number(a.handler.startsWith('get')));
}

function replyName(handler: string): string {
  const [, verb, noun = ''] = /^([a-z]+)(.*)$/.exec(handler) ?? [];
  if (verb === 'get') return noun;
  return verb === 'list' ? `${noun}Page` : `${capitalized(handler)}Reply`;
}

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const refTo = (name: string): string => `#/components/schemas/${name}`;

function convert(
  named: Map<GenericSchema, string>,
  typeMode: 'input' | 'output',
  // What OpenAPI 3.1 speaks.
  target: 'draft-2020-12' | 'draft-07' = 'draft-2020-12',
): Record<string, Schema> {
  const definitions = Object.fromEntries([...named].map(([schema, name]) => [name, schema]));
  const converted = toJsonSchemaDefs(definitions as Parameters<typeof toJsonSchemaDefs>[0], {
    typeMode,
    target,
    // These change the spelling of a value, not what may be sent.
    ignoreActions: ['trim', 'to_lower_case'],
    overrideRef: ({ referenceId }) => refTo(referenceId),
    // In the query it comes as text; what is meant is a number.
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema === PageQuery.limit
        ? { type: 'integer', minimum: 1, maximum: PAGE_MAX, default: Number(jsonSchema.default) }
        : undefined,
  });
  return JSON.parse(JSON.stringify(converted, withoutEmpty)) as Record<string, Schema>;
}

function withoutEmpty(key: string, value: unknown): unknown {
  return key === 'required' && Array.isArray(value) && value.length === 0 ? undefined : value;
}
