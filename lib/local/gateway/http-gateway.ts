import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access, AwsRequest, AwsResponse, Principal } from '../wire/aws.ts';
import { say } from '../wire/say.ts';
import { splitUrl, writeAnswer } from '../wire/wire.ts';
import { executeApiArn, type ApiSpec, type Apis } from './apis.ts';
import { isPreflight, withCors } from './http-cors.ts';
import { httpAnswer, httpEvent, type GatewayRequest } from './http-event.ts';
import { matchRoute, type RouteMatch } from './http-routes.ts';
import type { Integration } from './integration.ts';

// The quotas of an HTTP API.
const BODY_BYTES_MAX = 10 * 1024 * 1024;
const HEAD_BYTES_MAX = 10_240;
const INTEGRATION_SECONDS_MAX = 30;

interface Located {
  api: ApiSpec;
  path: string;
  match: RouteMatch | undefined;
}

/** A request before it is known which API and route it is for. */
type Received = Omit<GatewayRequest, 'path'> & { encodedPath: string };

/** API Gateway's HTTP side: routes to functions with payload 2.0, and answers as it does when they can't. */
export class HttpGateway {
  #apis: Apis;
  #integration: Integration;

  constructor(apis: Apis, integration: Integration) {
    this.#apis = apis;
    this.#integration = integration;
  }

  /** An unsigned request. */
  async serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(message);
    const { path, search } = splitUrl(message.url);
    const answer =
      body === undefined
        ? gatewayError(413, 'Request Entity Too Large')
        : await this.#answer({
            method: message.method ?? 'GET',
            encodedPath: path,
            search,
            headers: joinedHeaders(message),
            body,
            sourceIp: message.socket.remoteAddress ?? '127.0.0.1',
          });
    if (!response.destroyed) writeAnswer(response, answer);
  }

  /** What a signed request needs before it is passed on: nothing, where the route asks for no signature. */
  access(request: AwsRequest): Access[] {
    const located = this.#locate(request.method, request.path);
    if (located === 'malformed' || located?.match?.route.auth !== 'AWS_IAM') return [];
    const { api, path } = located;
    return [
      { action: 'execute-api:Invoke', resource: executeApiArn(api.id, api.stage, request.method, path) },
    ];
  }

  /** A signed request, after IAM has agreed. */
  async handle({ path, ...request }: AwsRequest): Promise<AwsResponse> {
    return this.#answer({ ...request, encodedPath: path, sourceIp: '127.0.0.1' });
  }

  async #answer({ encodedPath, ...received }: Received): Promise<AwsResponse> {
    const { method, headers, principal } = received;
    const requestLine = `${method} ${encodedPath}?${received.search} HTTP/1.1`;
    if (headBytes(requestLine, headers) > HEAD_BYTES_MAX)
      return gatewayError(431, 'Request Header Fields Too Large');
    const located = this.#locate(method, encodedPath);
    if (located === 'malformed') return gatewayError(400, 'Bad Request');
    if (located === undefined) return gatewayError(404, 'Not Found');
    const { api, path, match } = located;
    // A preflight goes to whatever route takes OPTIONS, as ANY and $default do; the gateway answers what is left.
    const own = (): AwsResponse =>
      api.cors !== undefined && isPreflight(method, headers)
        ? { status: 204 }
        : gatewayError(404, 'Not Found');
    const answer =
      match === undefined ? own() : await this.#route(api, match, { ...received, path }, principal);
    if (api.cors === undefined) return answer;
    return { ...answer, headers: withCors(api.cors, method, headers, answer.headers ?? {}) };
  }

  #locate(method: string, encodedPath: string): Located | 'malformed' | undefined {
    let decoded: string;
    try {
      decoded = decodeURIComponent(encodedPath);
    } catch {
      return 'malformed';
    }
    const found = this.#apis.locate(decoded);
    if (found === undefined || found.api.protocol !== 'HTTP') return undefined;
    return { api: found.api, path: found.path, match: matchRoute(found.api.routes, method, found.path) };
  }

  async #route(
    api: ApiSpec,
    match: RouteMatch,
    request: GatewayRequest,
    signer: Principal | undefined,
  ): Promise<AwsResponse> {
    const { route } = match;
    const isSigned = route.auth === 'AWS_IAM';
    if (isSigned && signer === undefined) return gatewayError(403, 'Forbidden');
    const outcome = await this.#integration.call({
      route,
      sourceArn: routeArn(api, route.key),
      // An open route tells its function nothing of a signature it did not ask for.
      event: httpEvent(api, match, { ...request, principal: isSigned ? signer : undefined }, new Date()),
      secondsMax: INTEGRATION_SECONDS_MAX,
    });
    switch (outcome.kind) {
      case 'answered':
        return understood(route.key, outcome.payload);
      case 'failed':
        return gatewayError(500, 'Internal Server Error');
      case 'too-large':
        return gatewayError(413, 'Request Entity Too Large');
      case 'throttled':
      case 'late':
        return gatewayError(503, 'Service Unavailable');
      default:
        return outcome satisfies never;
    }
  }
}

function understood(routeKey: string, payload: Buffer): AwsResponse {
  const answer = httpAnswer(payload);
  if (!('problem' in answer)) return answer;
  say('gateway', `${routeKey} answered with ${answer.problem}.`);
  return gatewayError(500, 'Internal Server Error');
}

/** Permissions are written for a route as declared, not for the path that was called. */
function routeArn(api: ApiSpec, key: string): string {
  const [method = key, path = ''] = key.split(' ');
  return executeApiArn(api.id, api.stage, method, path);
}

function gatewayError(status: number, message: string): AwsResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message }) };
}

async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Read on without keeping: a client that is still sending would miss an answer given now.
    if (size <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return size > BODY_BYTES_MAX ? undefined : Buffer.concat(chunks);
}

function joinedHeaders(message: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(message.headersDistinct).map(([name, values = []]) => [
      name,
      values.join(name === 'cookie' ? '; ' : ','),
    ]),
  );
}

function headBytes(requestLine: string, headers: Record<string, string>): number {
  return Object.values(headers).reduce((sum, value) => sum + value.length, requestLine.length);
}
