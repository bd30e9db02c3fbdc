import { socketRoute } from './socket-route.ts';
import { forgetConnection } from './connection-store.ts';

export const handler = socketRoute((ctx, event) =>
  forgetConnection(event.requestContext.connectionId, ctx.now()),
);
