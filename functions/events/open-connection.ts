import { parse } from '../platform/parse.ts';
import { socketRoute } from './socket-route.ts';
import { redeemTicket, saveConnection } from './connection-store.ts';
import { TicketSecret } from './ticket.ts';
import { refuse } from './problems.ts';

export const handler = socketRoute(async (ctx, event) => {
  const secret = parse(TicketSecret, event.queryStringParameters?.ticket, (more) =>
    refuse('ticket.refused', more),
  );
  const admission = await redeemTicket(secret, ctx.now());
  if (!admission) throw refuse('ticket.refused');
  await saveConnection(event.requestContext.connectionId, admission, ctx.now());
});
