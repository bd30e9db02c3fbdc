import { createEventTicket } from './create-event-ticket.ts';
import { listAudit } from './list-audit.ts';
import { listEvents } from './list-events.ts';
import { listProjectAudit } from './list-project-audit.ts';

/** Every handler of the domain, by the name its routes call it. */
export const eventsEndpoints = { createEventTicket, listAudit, listEvents, listProjectAudit };
