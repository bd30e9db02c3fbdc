import type { Schema } from '../functions/docs/document.ts';
import { EVENTS } from '../functions/events.ts';
import type { Wire } from './asyncapi-document.ts';

const DESCRIPTION = `Every event of the platform, of all projects and organisations, for rules that the platform team deploys beside it.

EventBridge wraps an event in one of its own. Its source is gpuaas, its detail-type is the event’s type, its time is occurred_at, and its detail is the event: that is the payload here, and what is around it the headers.

Each event comes at least once, and EventBridge keeps no order: know repeats by event_id, and order by sequence within a place.`;

/** Receiving everything from EventBridge: functions/relay puts it there. */
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
      address: 'GpuaasPlatform-events',
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
      summary: 'Be told of every event, by a rule on the bus',
    },
  },
};

/** What is around an event on the bus, as far as it is ours. */
export const BusHeaders: Schema = {
  type: 'object',
  description: 'What EventBridge has around the event.',
  properties: {
    source: { const: 'gpuaas' },
    'detail-type': { type: 'string', description: 'The event’s type.' },
    time: { type: 'string', format: 'date-time', description: 'When it happened, to the second.' },
  },
  required: ['source', 'detail-type', 'time'],
};
