import manifest from '../package.json' with { type: 'json' };
import { busWire, BusHeaders } from './asyncapi-bus.ts';
import type { AsyncapiDocument } from './asyncapi-document.ts';
import { Event, eventMessages, eventSchemas } from './asyncapi-events.ts';
import { socketMessages, socketWire } from './asyncapi-socket.ts';
import { Problem } from './openapi-problems.ts';

const DESCRIPTION = `The events of the platform. An event is written in the same transaction as the change it reports, and published a moment later.

Every event belongs to one place: a project, an organisation or the platform. The events of a place are numbered by sequence, without gaps. Match on type and version. Data uses the same names in all events: app_slug, app_version and app_instance_id.

Callers who may read a project follow its events over WebSocket or read its feed; the platform team receives all events on the bus. Operations are described from the side of the client. The HTTP API is described at /api/v1/openapi.json.`;

/** The AsyncAPI document, built from the event table that also defines the queues, and the schema of each kind. */
export function buildAsyncapi(): AsyncapiDocument {
  return {
    asyncapi: '3.0.0',
    id: 'urn:gpuaas:events',
    info: { title: 'GPUaaS App Platform events', version: manifest.version, description: DESCRIPTION },
    defaultContentType: 'application/json',
    servers: { ...socketWire.servers, ...busWire.servers },
    channels: { ...socketWire.channels, ...busWire.channels },
    operations: { ...socketWire.operations, ...busWire.operations },
    components: {
      messages: { ...socketMessages(), ...eventMessages() },
      messageTraits: {
        onBus: {
          headers: { $ref: '#/components/schemas/BusHeaders' },
          correlationId: { $ref: '#/components/correlationIds/request' },
        },
      },
      schemas: { Event, BusHeaders, Problem, ...eventSchemas() },
      correlationIds: {
        request: {
          description: 'The request that caused the event.',
          location: '$message.payload#/correlation_id',
        },
      },
      securitySchemes: {
        ticket: {
          type: 'httpApiKey',
          name: 'ticket',
          in: 'query',
          description: 'Opens one connection, once.',
        },
      },
    },
  };
}
