import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { HandlerName, Requirement, Table } from '../route.ts';
import { type Context, correlationIdIn, createContext } from '../context.ts';
import type { Endpoint, Reply } from './endpoint.ts';
import { Refusal, refuse } from '../errors.ts';
import { newId } from '../ids.ts';
import { countRequest } from '../metrics.ts';
import { problemOf, RETRY_AFTER_SECONDS } from './problem.ts';
import { readRequest } from './request.ts';

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Who asks, and whether they may; the caller's limits are told in the headers whatever comes after. */
export type Admit = (
  ctx: Context,
  event: APIGatewayProxyEventV2,
  requirement: Requirement,
  headers: Record<string, string>,
) => Context | Promise<Context>;

/** The function of one domain: it names a handler for each of the domain's routes, and no other. */
export function serve<T extends Table>(table: T, endpoints: Record<HandlerName<T>, Endpoint>, admit: Admit) {
  const byRoute = new Map<string, { endpoint: Endpoint; requirement: Requirement }>();
  for (const [route, [handler, requirement]] of Object.entries<Table[keyof Table]>(table))
    byRoute.set(route, { endpoint: endpoints[handler as HandlerName<T>], requirement });

  return async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> => {
    const begunMs = Date.now();
    const { 'x-request-id': requestId, traceparent } = event.headers;
    let ctx = createContext(correlationIdIn(requestId) ?? newId(), traceparent);
    const headers: Record<string, string> = {};
    let reply: Reply;
    try {
      const found = byRoute.get(event.routeKey);
      if (!found) throw refuse('route.unknown');
      ctx = await admit(ctx, event, found.requirement, headers);
      const request = readRequest(event);
      reply = await found.endpoint.run({ ...ctx, ifMatch: request.ifMatch }, request);
    } catch (error) {
      reply = problemReply(ctx, event.routeKey, error);
    }
    countRequest(ctx.log, event.routeKey, reply.status, Date.now() - begunMs);
    return answer(ctx, { ...reply, headers: { ...headers, ...reply.headers } });
  };
}

function problemReply(ctx: Context, route: string, error: unknown): Reply {
  const problem = problemOf(error, ctx.correlationId);
  if (problem.status >= 500) ctx.log.error('The request failed.', { route, code: problem.code, error });
  else ctx.log.info('The request was refused.', { route, code: problem.code });
  const headers = {
    'content-type': 'application/problem+json',
    ...(problem.status === 503 && { 'retry-after': String(RETRY_AFTER_SECONDS) }),
    // RFC 6750 §3
    ...(problem.status === 401 && { 'www-authenticate': 'Bearer realm="gpuaas"' }),
    ...(error instanceof Refusal && error.headers),
  };
  return { status: problem.status, headers, body: problem };
}

function answer(ctx: Context, { status, headers, body }: Reply): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode: status,
    headers: {
      ...HEADERS,
      'content-type': 'application/json',
      'x-request-id': ctx.correlationId,
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
}
