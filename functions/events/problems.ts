import { type Problems, refusing } from '../platform/errors.ts';

export const eventsProblems = {
  'message.invalid': { status: 400, retryable: false, title: 'The message is not valid' },
  'ticket.refused': { status: 401, retryable: false, title: 'The ticket is unknown, used or expired' },
  'connection.too_many': { status: 429, retryable: true, title: 'Too many connections are open' },
  'connection.unknown': { status: 404, retryable: false, title: 'The connection is unknown or expired' },
} as const satisfies Problems;

export const refuse = refusing({ ...eventsProblems });
