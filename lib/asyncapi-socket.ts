import type { ProblemCode } from '../functions/problems.ts';
import { EVENTS } from '../functions/events.ts';
import type { RouteKey } from '../functions/routes.ts';
import type { Message, Wire } from './asyncapi-document.ts';
import { eventRefs, exampleEvent } from './asyncapi-events.ts';

// Types, so that a route that moves is found here.
const TICKETS: RouteKey = 'POST /api/v1/projects/{project_id}/events/tickets';
const FEED: RouteKey = 'GET /api/v1/projects/{project_id}/events';

const DESCRIPTION = `The events of one project, as they happen.

${TICKETS} returns socket_url and ticket. The ticket opens one connection, once, within expires_in seconds: open socket_url with ?ticket=. Without a valid ticket the answer is 401 and no connection is opened.

Send {"action":"subscribe"}. The answer “subscribed” states the current position of the feed; events after that position are pushed in order. Any other message is answered by “problem”, and the connection stays open.

Missed events are not pushed again: read them with ${FEED} and the cursor of the last message. The same event may be both read and pushed, or pushed twice; a gap in sequence means that an event was missed. A caller who may no longer read the events of the project receives nothing more.

The gateway closes a connection after ten minutes without messages, and every connection after two hours. Then get a new ticket, subscribe, and read the feed from the last cursor.`;

const FEED_CHANNEL = { $ref: '#/channels/feed' };
const inFeed = (name: string) => ({ $ref: `#/channels/feed/messages/${name}` });

/** Following a project over WebSocket: functions/events answers messages and pushes events. */
export const socketWire: Wire = {
  servers: {
    socket: {
      host: '{socket_host}',
      protocol: 'wss',
      description:
        'The WebSocket API. Each ticket comes with its address; on a single machine the address begins with ws.',
      variables: {
        socket_host: {
          description: 'The host of socket_url.',
          examples: ['abcde12345.execute-api.eu-central-1.amazonaws.com'],
        },
      },
      security: [{ $ref: '#/components/securitySchemes/ticket' }],
    },
  },
  channels: {
    feed: {
      address: '/live',
      title: 'The events of a project',
      description: DESCRIPTION,
      servers: [{ $ref: '#/servers/socket' }],
      messages: Object.fromEntries(
        ['subscribe', 'subscribed', 'event', 'problem'].map((name) => [
          name,
          { $ref: `#/components/messages/${name}` },
        ]),
      ),
      bindings: {
        ws: {
          method: 'GET',
          query: {
            type: 'object',
            properties: { ticket: { type: 'string', pattern: '^[\\w-]{43}$' } },
            required: ['ticket'],
          },
          bindingVersion: '0.1.0',
        },
      },
    },
  },
  operations: {
    subscribe: {
      action: 'send',
      channel: FEED_CHANNEL,
      summary: 'Subscribe to the events of the ticket’s project',
      messages: [inFeed('subscribe')],
      reply: { channel: FEED_CHANNEL, messages: [inFeed('subscribed'), inFeed('problem')] },
    },
    follow: {
      action: 'receive',
      channel: FEED_CHANNEL,
      summary: 'Receive the events of the project, one by one and in order',
      messages: [inFeed('event')],
    },
  },
};

const CURSOR = {
  type: 'string',
  description: 'The position after this message: use it to read the feed from there.',
  examples: ['MDAwMDAwMDAwMDAwMDAx'],
};

const PROBLEM_CODES: ProblemCode[] = ['message.invalid', 'connection.unknown', 'internal', 'unavailable'];

export function socketMessages(): Record<string, Message> {
  const [[kind]] = EVENTS;
  return {
    subscribe: {
      name: 'subscribe',
      title: 'Subscribe',
      summary: 'The only message a client sends: text of at most 1024 characters.',
      payload: {
        type: 'object',
        properties: { action: { const: 'subscribe' } },
        required: ['action'],
        additionalProperties: false,
      },
      examples: [{ payload: { action: 'subscribe' } }],
    },
    subscribed: {
      name: 'subscribed',
      title: 'Subscribed',
      summary: 'The current position of the feed; later events are pushed.',
      payload: {
        type: 'object',
        properties: {
          type: { const: 'subscribed' },
          position: {
            type: 'integer',
            minimum: 0,
            description: 'The sequence of the last event; 0 if there is none.',
          },
          cursor: CURSOR,
        },
        required: ['type', 'position', 'cursor'],
      },
      examples: [{ payload: { type: 'subscribed', position: 1, cursor: CURSOR.examples[0] } }],
    },
    event: {
      name: 'event',
      title: 'Event',
      summary: 'One event of the project.',
      payload: {
        type: 'object',
        properties: { type: { const: 'event' }, event: { oneOf: eventRefs }, cursor: CURSOR },
        required: ['type', 'event', 'cursor'],
      },
      examples: [{ payload: { type: 'event', event: exampleEvent(kind), cursor: CURSOR.examples[0] } }],
    },
    problem: {
      name: 'problem',
      title: 'Problem',
      summary: 'Why a message was refused.',
      payload: {
        type: 'object',
        properties: { type: { const: 'problem' }, problem: { $ref: '#/components/schemas/Problem' } },
        required: ['type', 'problem'],
      },
      'x-problem-codes': PROBLEM_CODES,
    },
  };
}
