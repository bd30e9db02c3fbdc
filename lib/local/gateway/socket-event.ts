import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiSpec } from './apis.ts';
import { requestTime } from './request-time.ts';

/** One client of a WebSocket API, from the moment it asks to connect. */
export interface Peer {
  connectionId: string;
  apiId: string;
  connectedAtMs: number;
  sourceIp: string;
  userAgent: string;
  /** The host it called. */
  domainName: string;
}

type EventType = 'CONNECT' | 'MESSAGE' | 'DISCONNECT';

export function connectEvent(api: ApiSpec, peer: Peer, request: IncomingMessage, search: string): object {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const);
  const query = new URLSearchParams(search);
  return {
    headers: Object.fromEntries(headers),
    multiValueHeaders: Object.fromEntries(headers.map(([name, value]) => [name, [value]])),
    ...(query.size > 0 && {
      queryStringParameters: Object.fromEntries(query),
      multiValueQueryStringParameters: Object.fromEntries(
        [...query.keys()].map((name) => [name, query.getAll(name)]),
      ),
    }),
    requestContext: requestContext(api, peer, '$connect', 'CONNECT'),
    isBase64Encoded: false,
  };
}

export function messageEvent(
  api: ApiSpec,
  peer: Peer,
  routeKey: string,
  requestId: string,
  body: string,
): object {
  const context = requestContext(api, peer, routeKey, 'MESSAGE');
  return {
    requestContext: { ...context, requestId, messageId: randomUUID() },
    body,
    isBase64Encoded: false,
  };
}

export function disconnectEvent(
  api: ApiSpec,
  peer: Peer,
  end: { statusCode: number; reason: string },
): object {
  return {
    requestContext: {
      ...requestContext(api, peer, '$disconnect', 'DISCONNECT'),
      disconnectStatusCode: end.statusCode,
      disconnectReason: end.reason,
    },
    isBase64Encoded: false,
  };
}

/** What `$connect` answered: whether to let the client in, and by which subprotocol. */
export function connectAnswer(payload: Buffer): { status: number; subprotocol?: string } | undefined {
  const answer = JSON.parse(payload.toString('utf8')) as unknown;
  if (answer === null || typeof answer !== 'object') return undefined;
  const { statusCode, headers } = answer as {
    statusCode?: unknown;
    headers?: Record<string, unknown> | null;
  };
  if (typeof statusCode !== 'number' || !Number.isInteger(statusCode) || statusCode < 200 || statusCode > 599)
    return undefined;
  const named = Object.entries(headers ?? {}).find(
    ([name]) => name.toLowerCase() === 'sec-websocket-protocol',
  );
  return { status: statusCode, ...(named && { subprotocol: String(named[1]) }) };
}

function requestContext(api: ApiSpec, peer: Peer, routeKey: string, eventType: EventType) {
  const now = new Date();
  return {
    routeKey,
    eventType,
    messageDirection: 'IN',
    extendedRequestId: randomUUID(),
    requestId: randomUUID(),
    requestTime: requestTime(now),
    requestTimeEpoch: now.getTime(),
    connectedAt: peer.connectedAtMs,
    connectionId: peer.connectionId,
    apiId: api.id,
    stage: api.stage,
    domainName: peer.domainName,
    identity: { sourceIp: peer.sourceIp, userAgent: peer.userAgent },
  };
}
