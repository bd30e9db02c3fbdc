import manifest from '../package.json' with { type: 'json' };
import { busWire, BusHeaders } from './asyncapi-bus.ts';
import type { AsyncapiDocument } from './asyncapi-document.ts';
import { Event, eventMessages, eventSchemas } from './asyncapi-events.ts';
import { socketMessages, socketWire } from './asyncapi-socket.ts';
import { Problem } from './openapi-problems.ts';

const DESCRIPTION = `What happens on the platform, as events. An event is written with the change it tells of, so that neither is there without the other, and told a moment later.

Every event belongs to one place: a project, an organisation or the platform. There it has its number, sequence, without a gap. Match on type and version. Data names things in one way everywhere: app_slug, app_version and app_instance_id.

Whoever may read a project follows it over WebSocket, or reads its feed; the platform team receives everything on the bus. Operations are told from the side of whoever listens. Commands and all else are described at /api/v1/openapi.json.`;

/** The events described: made of the same table the queues are made of, and of what each kind says it tells. */
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
        request: { description: 'The request it came of.', location: '$message.payload#/correlation_id' },
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
