import type { APIGatewayProxyStructuredResultV2, APIGatewayProxyWebsocketEventV2 } from 'aws-lambda';
import { type Context, createContext } from '../platform/context.ts';
import { newId } from '../platform/ids.ts';
import { problemOf } from '../platform/http/problem.ts';

/** The gateway adds the query string to `$connect` only, so the published event type leaves it out. */
export type SocketEvent = APIGatewayProxyWebsocketEventV2 & {
  queryStringParameters?: Record<string, string | undefined>;
};

/** One route of the WebSocket API. Only a status goes back: on `$connect` it decides whether the socket opens. */
export function socketRoute(answer: (ctx: Context, event: SocketEvent) => Promise<void>) {
  return async (event: SocketEvent): Promise<APIGatewayProxyStructuredResultV2> => {
    const ctx = createContext(newId());
    try {
      await answer(ctx, event);
      return { statusCode: 200 };
    } catch (error) {
      const { status, code } = problemOf(error, ctx.correlationId);
      ctx.log[status >= 500 ? 'error' : 'info']('The socket was refused.', { code, error });
      return { statusCode: status };
    }
  };
}
