import { socketRoute } from './socket-route.ts';
import { dropConnection, findConnection } from './connection-store.ts';

export const handler = socketRoute(async (ctx, event) => {
  const { connectionId } = event.requestContext;
  const admission = await findConnection(connectionId, ctx.now());
  if (admission) await dropConnection(connectionId, admission.topic);
});
