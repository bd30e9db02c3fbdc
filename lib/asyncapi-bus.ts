import type { Schema } from '../functions/docs/document.ts';
import { EVENTS } from '../functions/events.ts';
import type { Wire } from './asyncapi-document.ts';

const DESCRIPTION = `Every event of the platform, of all projects and organisations, for EventBridge rules that the platform team deploys.

EventBridge wraps an event in an event of its own: its source is gpuaas, its detail-type is the event’s type, its time is occurred_at, and its detail is the event. Here the detail is the payload, and the other members are the headers.

Each event is delivered at least once, in no particular order: detect repeats by event_id, and order the events of a place by sequence.`;

/** Receiving all events from EventBridge, where functions/events/relay-place.ts puts them. */
export const busWire: Wire = {
  servers: {
    bus: {
      host: 'events.{region}.amazonaws.com',
      protocol: 'eventbridge',
      description: 'EventBridge, in the account the platform is deployed to.',
      variables: { region: { description: 'The region of the platform.', examples: ['eu-central-1'] } },
    },
  },
  channels: {
    bus: {
      address: 'GpuaasCore-events',
      title: 'The event bus',
      description: DESCRIPTION,
      servers: [{ $ref: '#/servers/bus' }],
      messages: Object.fromEntries(
        EVENTS.map(([{ type }]) => [type, { $ref: `#/components/messages/${type}` }]),
      ),
    },
  },
  operations: {
    receive: {
      action: 'receive',
      channel: { $ref: '#/channels/bus' },
      summary: 'Receive every event through a rule on the bus',
    },
  },
};

/** The members of the EventBridge event around ours, as far as the platform sets them. */
export const BusHeaders: Schema = {
  type: 'object',
  description: 'The members of the EventBridge event around the detail.',
  properties: {
    source: { const: 'gpuaas' },
    'detail-type': { type: 'string', description: 'The event’s type.' },
    time: { type: 'string', format: 'date-time', description: 'When it happened, to the second.' },
  },
  required: ['source', 'detail-type', 'time'],
};
