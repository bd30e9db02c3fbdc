import { parse } from '../platform/parse.ts';
import { socketRoute } from './socket-route.ts';
import { mayFollow } from './admit-followers.ts';
import { redeemTicket, saveConnection } from './connection-store.ts';
import { TicketSecret } from './ticket.ts';
import { refuse } from './problems.ts';

export const handler = socketRoute(async (ctx, event) => {
  const secret = parse(TicketSecret, event.queryStringParameters?.ticket, (more) =>
    refuse('ticket.refused', more),
  );
  const admission = await redeemTicket(secret, ctx.now());
  // Whoever was removed since is told what a stranger is told.
  if (!admission || !(await mayFollow(admission, ctx.now))) throw refuse('ticket.refused');
  const isSaved = await saveConnection(event.requestContext.connectionId, admission, ctx.now());
  if (!isSaved) throw refuse('connection.too_many');
});
