import type { ProblemCode } from '../functions/problems.ts';
import { EVENTS } from '../functions/events.ts';
import type { RouteKey } from '../functions/routes.ts';
import type { Message, Wire } from './asyncapi-document.ts';
import { eventRefs, exampleEvent } from './asyncapi-events.ts';

// Types, so that a route that moves is found here.
const TICKETS: RouteKey = 'POST /api/v1/projects/{project_id}/events/tickets';
const FEED: RouteKey = 'GET /api/v1/projects/{project_id}/events';

const DESCRIPTION = `The events of one project, as they happen.

${TICKETS} answers socket_url and ticket. The ticket opens one connection, once, within expires_in seconds: open socket_url with ?ticket=. Without a ticket that is good, the answer is 401 and nothing opens.

Send {"action":"subscribe"}. “subscribed” tells where the feed stands; what comes after that position is pushed, in order. Whatever else is sent is answered by “problem”, and the connection goes on.

Nothing that was missed is pushed again: read it with ${FEED} and the cursor of the last message. The same event may be read and pushed, or pushed twice; a number that was left out means that something was missed. Whoever may no longer read the events of the project is told nothing more.

The gateway closes a connection after ten minutes of silence, and any after two hours. Get another ticket, subscribe, then read from the cursor on.`;

const FEED_CHANNEL = { $ref: '#/channels/feed' };
const inFeed = (name: string) => ({ $ref: `#/channels/feed/messages/${name}` });

/** Following a project over WebSocket: functions/socket answers, functions/relay pushes. */
export const socketWire: Wire = {
  servers: {
    socket: {
      host: '{socket_host}',
      protocol: 'wss',
      description:
        'The WebSocket API. Each ticket comes with its address; on one machine that begins with ws.',
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
      summary: 'Begin to follow the project the ticket is for',
      messages: [inFeed('subscribe')],
      reply: { channel: FEED_CHANNEL, messages: [inFeed('subscribed'), inFeed('problem')] },
    },
    follow: {
      action: 'receive',
      channel: FEED_CHANNEL,
      summary: 'Be told of the project’s events, one by one and in order',
      messages: [inFeed('event')],
    },
  },
};

const CURSOR = {
  type: 'string',
  description: 'Everything up to here has been seen: the feed is read on from it.',
  examples: ['MDAwMDAwMDAwMDAwMDAx'],
};

const PROBLEM_CODES: ProblemCode[] = ['message.invalid', 'connection.unknown', 'internal', 'unavailable'];

export function socketMessages(): Record<string, Message> {
  const [[kind]] = EVENTS;
  return {
    subscribe: {
      name: 'subscribe',
      title: 'Subscribe',
      summary: 'All there is to say: a text of at most 1024 characters.',
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
      summary: 'Where the feed stands. What comes after it is pushed.',
      payload: {
        type: 'object',
        properties: {
          type: { const: 'subscribed' },
          position: {
            type: 'integer',
            minimum: 0,
            description: 'The sequence of the last event; 0 where there is none.',
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
      summary: 'Why what was sent was refused.',
      payload: {
        type: 'object',
        properties: { type: { const: 'problem' }, problem: { $ref: '#/components/schemas/Problem' } },
        required: ['type', 'problem'],
      },
      'x-problem-codes': PROBLEM_CODES,
    },
  };
}
