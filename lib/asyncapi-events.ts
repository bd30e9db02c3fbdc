import type { Schema } from '../functions/docs/document.ts';
import { EVENTS } from '../functions/events.ts';
import { type EventKind, PlatformEvent } from '../functions/platform/events.ts';
import type { AsyncapiSchema, Message } from './asyncapi-document.ts';
import { exampleOf } from './openapi-examples.ts';
import { eventSchemaOf } from './openapi-schemas.ts';

/** What is known of every event; the relay adds `sequence` to what the outbox holds. */
const MEMBERS: Record<keyof PlatformEvent | 'sequence', Schema> = {
  event_id: { format: 'uuid', description: 'Unique to this event: detect repeated deliveries by it.' },
  sequence: {
    type: 'integer',
    minimum: 1,
    description:
      'The number of the event in its place, without gaps. The place is the project, else the organisation, else the platform.',
  },
  type: { description: 'The type of the event. Match on it, and ignore unknown types.' },
  version: { type: 'integer', minimum: 1, description: 'The version of the data of this type.' },
  occurred_at: { format: 'date-time' },
  actor: {
    description:
      'Who caused the event: user, service_account, platform_team or platform with an id, or anonymous.',
    examples: ['user:0193e0a0-7c3b-7f00-8a5e-3d1f0c9b2a41'],
  },
  correlation_id: {
    description: 'The X-Request-ID of the request that caused the event; also in the log and the audit log.',
    examples: ['look-1'],
  },
  traceparent: {
    description: 'The W3C Trace Context of the change.',
    examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  },
  org_id: { format: 'uuid', description: 'Omitted if the event concerns only the platform.' },
  project_id: { format: 'uuid', description: 'Omitted if the event does not concern a single project.' },
  data: { description: 'The content of the event; its type defines the members.' },
};

/** What all kinds share. Each kind is a schema under its type, which is what a discriminator asks for. */
function envelope(): AsyncapiSchema {
  const { properties = {}, required = [] } = eventSchemaOf(PlatformEvent);
  return {
    type: 'object',
    description: 'An event of the platform.',
    discriminator: 'type',
    properties: Object.fromEntries(
      Object.entries(MEMBERS).map(([name, member]) => [name, { ...properties[name], ...member }]),
    ),
    required: [...required, 'sequence'],
  };
}

export const Event = envelope();

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const eventRefs = EVENTS.map(([{ type }]) => refTo(type));

/** Every kind under its type, and what several of them say under its own name. */
export function eventSchemas(): Record<string, Schema> {
  const kinds = EVENTS.map(([{ type, version, schema }]) => ({ type, version, data: eventSchemaOf(schema) }));
  const shared = sharedMembers(kinds.map(({ data }) => data));
  const schemas = kinds.map(({ type, version, data }): [string, Schema] => {
    const own = { type: { const: type }, version: { const: version }, data: referring(data, shared) };
    return [type, { allOf: [refTo('Event'), { type: 'object', properties: own }] }];
  });
  return { ...shared, ...Object.fromEntries(schemas) };
}

/** Members that several kinds have, all in one way: an app's slug is the same thing wherever it is told. */
function sharedMembers(data: Schema[]): Record<string, Schema> {
  const members = data.flatMap(({ properties = {} }) => Object.entries(properties));
  const shared = [...Map.groupBy(members, ([name]) => name).values()].filter(
    (alike) => alike.length > 1 && new Set(alike.map((each) => JSON.stringify(each))).size === 1,
  );
  return Object.fromEntries(shared.flatMap(([member]) => (member ? [member] : [])));
}

function referring({ properties = {}, ...rest }: Schema, shared: Record<string, Schema>): Schema {
  const members = Object.entries(properties).map(([name, member]): [string, Schema] => [
    name,
    name in shared ? refTo(name) : member,
  ]);
  return { ...rest, properties: Object.fromEntries(members) };
}

export function eventMessages(): Record<string, Message> {
  return Object.fromEntries(
    EVENTS.map(([{ type }, emitter, reactors]) => [
      type,
      {
        name: type,
        title: titleOf(type),
        traits: [{ $ref: '#/components/messageTraits/onBus' }],
        payload: refTo(type),
        'x-emitted-by': emitter,
        'x-reacted-to-by': reactors,
      },
    ]),
  );
}

/** `apps.artifact.canary_began`: “Artifact canary began”. */
function titleOf(type: string): string {
  const words = type.split('.').slice(-2).join(' ').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** An event of a kind, as it might come. */
export function exampleEvent({ type, version, schema }: EventKind): Record<string, unknown> {
  const members = Object.entries(Event.properties ?? {});
  return {
    ...Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member, {}, name)])),
    type,
    version,
    data: exampleOf(eventSchemaOf(schema), {}),
  };
}
