import type { APIGatewayProxyStructuredResultV2, APIGatewayProxyWebsocketEventV2 } from 'aws-lambda';
import type { Context } from '../platform/context.ts';
import { GATEWAY_MS } from '../platform/edge/deadline.ts';
import { edge, type Shape } from '../platform/edge/edge.ts';
import { problemOf } from '../platform/http/problem.ts';
import { countRequest } from '../platform/metrics.ts';

/** The gateway adds the query string to `$connect` only, so the published event type leaves it out. */
export type SocketEvent = APIGatewayProxyWebsocketEventV2 & {
  queryStringParameters?: Record<string, string | undefined>;
};

/** One route of the WebSocket API. Only a status goes back: on `$connect` it decides whether the socket opens. */
export function socketRoute(answer: (ctx: Context, event: SocketEvent) => Promise<void>) {
  return edge(SOCKET, async (ctx, event) => {
    await answer(ctx, event);
    return { statusCode: 200 };
  });
}

const SOCKET: Shape<SocketEvent, APIGatewayProxyStructuredResultV2> = {
  kind: 'socket',
  sent: () => ({}),
  tellError(ctx, _event, error) {
    const { status, code } = problemOf(error, ctx.correlationId);
    ctx.log[status >= 500 ? 'error' : 'info']('The socket was refused.', { code, error });
    return { statusCode: status };
  },
  count: (ctx, event, { statusCode: status = 0 }, durationMs) =>
    countRequest(ctx.log, {
      domain: 'events',
      route: event?.requestContext?.routeKey,
      status,
      durationMs,
    }),
  patienceMs: GATEWAY_MS,
};
