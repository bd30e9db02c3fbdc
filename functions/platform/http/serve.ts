import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { HandlerName, Requirement, Table } from '../route.ts';
import type { Context } from '../context.ts';
import { GATEWAY_MS } from '../edge/deadline.ts';
import { edge, type Shape } from '../edge/edge.ts';
import type { Endpoint } from './endpoint.ts';
import { refuse } from '../errors.ts';
import { countRequest } from '../metrics.ts';
import { answerProblem } from './problem.ts';
import { readRequest } from './request.ts';

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-type': 'application/json',
};

/** Who asks, and whether they may do what the route requires. */
export type Admit = (
  ctx: Context,
  event: APIGatewayProxyEventV2,
  requirement: Requirement,
  headers: Record<string, string>,
) => Context | Promise<Context>;

/** The edge of whatever answers HTTP. */
export const httpShape = (
  domain: string,
): Shape<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> => ({
  kind: 'http',
  sent: (event) => ({
    correlationId: event?.headers?.['x-request-id'],
    traceparent: event?.headers?.['traceparent'],
  }),
  tellError: (ctx, event, error) => answerProblem(ctx, event?.routeKey, error),
  withHeaders: (ctx, headers, answer) => ({
    ...answer,
    headers: { ...HEADERS, 'x-request-id': ctx.correlationId, ...headers, ...answer.headers },
  }),
  count: (ctx, event, { statusCode: status = 0 }, durationMs) =>
    countRequest(ctx.log, { domain, route: event?.routeKey, status, durationMs }),
  patienceMs: GATEWAY_MS,
});

/** The function of one domain: it names a handler for each of the domain's routes, and no other. */
export function serve<T extends Table>(
  domain: string,
  table: T,
  endpoints: Record<HandlerName<T>, Endpoint>,
  admit: Admit,
) {
  const byRoute = new Map<string, { endpoint: Endpoint; requirement: Requirement }>();
  for (const [route, [handler, requirement]] of Object.entries<Table[keyof Table]>(table))
    byRoute.set(route, { endpoint: endpoints[handler as HandlerName<T>], requirement });

  const find = ({ routeKey }: APIGatewayProxyEventV2) => {
    const found = byRoute.get(routeKey);
    if (!found) throw refuse('route.unknown');
    return found;
  };
  return edge(
    {
      ...httpShape(domain),
      admit: (ctx, event, headers) => admit(ctx, event, find(event).requirement, headers),
    },
    async (ctx, event) => {
      const request = readRequest(event);
      const { status, headers, body } = await find(event).endpoint.run(
        { ...ctx, ifMatch: request.ifMatch },
        request,
      );
      return {
        statusCode: status,
        headers,
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      };
    },
  );
}
