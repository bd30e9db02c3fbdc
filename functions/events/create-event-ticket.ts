import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { environment } from '../platform/environment.ts';
import { eventTopic } from './keys.ts';
import { issueTicket } from './issue-ticket.ts';
import { TICKET_SECONDS } from './ticket.ts';
import { holderOf } from './ticket-holder.ts';
import { EventTicketView } from './event-view.ts';
import { ProjectParams } from '../identity/project.ts';

export const createEventTicket = command(
  {
    summary: 'Get a ticket for a WebSocket connection that follows the project’s events',
    action: 'event.ticket.create',
    params: ProjectParams,
    reply: EventTicketView,
    status: 201,
  },
  (ctx) => {
    const { id, org_id } = projectOf(ctx);
    const ticket = issueTicket({ topic: eventTopic(id), org_id, holder: holderOf(ctx) }, ctx.now());
    return {
      subject: `project:${id}`,
      writes: [ticket.write],
      reply: { socket_url: environment('SOCKET_URL'), expires_in: TICKET_SECONDS },
      secrets: { ticket: ticket.secret },
    };
  },
);
