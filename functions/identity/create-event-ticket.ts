import { type Context, projectOf } from '../platform/context.ts';
import { command } from '../platform/endpoint.ts';
import { environment } from '../platform/environment.ts';
import { refuse } from '../platform/errors.ts';
import { judge } from '../platform/permissions.ts';
import { eventTopic } from '../relay/keys.ts';
import { issueTicket } from '../socket/issue-ticket.ts';
import { type Holder, TICKET_SECONDS } from '../socket/ticket.ts';
import { EventTicketView } from './event.ts';
import { ProjectParams } from './project.ts';

export const createEventTicket = command(
  {
    summary: 'Get a ticket for a WebSocket connection that follows the project’s events',
    action: 'event.ticket.create',
    params: ProjectParams,
    reply: EventTicketView,
    status: 201,
  },
  (ctx) => {
    const { id } = projectOf(ctx);
    const ticket = issueTicket({ topic: eventTopic(id), holder: holderOf(ctx) }, ctx.now());
    return {
      subject: `project:${id}`,
      writes: [ticket.write],
      reply: { socket_url: environment('SOCKET_URL'), expires_in: TICKET_SECONDS },
      secrets: { ticket: ticket.secret },
    };
  },
);

// Kept with the connection, so that it ends when its holder may no longer read the project's events.
function holderOf({ actor, grants }: Context): Holder {
  if (actor.kind !== 'user' && actor.kind !== 'service_account') throw refuse('permission.denied');
  return { kind: actor.kind, id: actor.id, everywhere: judge(grants, 'event.read', {}) === 'allowed' };
}
