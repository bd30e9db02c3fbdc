import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { AwsError } from '../wire/aws.ts';
import { pause } from '../lambda/pause.ts';
import { say } from '../wire/say.ts';
import { splitUrl } from '../wire/wire.ts';
import { executeApiArn, type ApiSpec, type Apis, type RouteSpec } from './apis.ts';
import type { Integrated, Integration } from './integration.ts';
import { connectAnswer, connectEvent, disconnectEvent, messageEvent, type Peer } from './socket-event.ts';

// The quotas of a WebSocket API.
const MESSAGE_BYTES_MAX = 128 * 1024;
const INTEGRATION_SECONDS_MAX = 29;
const IDLE_SECONDS_MAX = 10 * 60;
const CONNECTION_SECONDS_MAX = 2 * 60 * 60;

const STALE_CHECK_MS = 5_000;
const STOP_GRACE_MS = 3_000;

interface Connection extends Peer {
  socket: WebSocket;
  lastActiveAtMs: number;
}

/** How a client that asked to connect is answered. */
type Admission = { peer: Peer; subprotocol?: string } | { refused: number; message: string };

/** API Gateway's WebSocket side: `$connect`, `$disconnect`, routes by message, and post-to-connection. */
export class SocketGateway {
  #apis: Apis;
  #integration: Integration;
  #connections = new Map<string, Connection>();
  /** `$disconnect`s under way. */
  #leaving = new Set<Promise<Integrated>>();
  #admitted = new WeakMap<IncomingMessage, { peer: Peer; subprotocol?: string }>();
  #clock = setInterval(() => this.#closeStale(), STALE_CHECK_MS).unref();
  #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MESSAGE_BYTES_MAX,
    // Asked once the handshake is known to be one, so that `$connect` is invoked for clients that can connect.
    verifyClient: ({ req }, decide) => {
      this.#verify(req, decide).catch((error: unknown) => {
        say('gateway', `a WebSocket could not be opened: ${String(error)}`);
        req.socket.destroy();
      });
    },
    handleProtocols: (offered, request) => {
      const { subprotocol } = this.#admitted.get(request) ?? {};
      return subprotocol !== undefined && offered.has(subprotocol) && subprotocol;
    },
  });

  constructor(apis: Apis, integration: Integration) {
    this.#apis = apis;
    this.#integration = integration;
  }

  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, duplex, head, (socket) => {
      const admitted = this.#admitted.get(request);
      if (admitted) this.#open({ ...admitted.peer, socket, lastActiveAtMs: Date.now() });
    });
  }

  post(apiId: string, connectionId: string, data: Buffer): void {
    if (data.length > MESSAGE_BYTES_MAX)
      throw new AwsError('PayloadTooLargeException', 'The message is over 128 kB.', 413);
    const connection = this.#get(apiId, connectionId);
    connection.lastActiveAtMs = Date.now();
    connection.socket.send(data.toString('utf8'));
  }

  describe(apiId: string, connectionId: string): object {
    const { connectedAtMs, lastActiveAtMs, sourceIp, userAgent } = this.#get(apiId, connectionId);
    return {
      connectedAt: new Date(connectedAtMs).toISOString(),
      lastActiveAt: new Date(lastActiveAtMs).toISOString(),
      identity: { sourceIp, userAgent },
    };
  }

  disconnect(apiId: string, connectionId: string): void {
    this.#get(apiId, connectionId).socket.close(1000);
  }

  /** Ends every connection, and resolves when the functions have been told, or take too long to listen. */
  async close(): Promise<void> {
    clearInterval(this.#clock);
    this.#server.close();
    const ended = [...this.#connections.values()].map(
      ({ socket }) => new Promise((resolve) => socket.once('close', resolve).terminate()),
    );
    await Promise.all(ended);
    await Promise.race([Promise.all(this.#leaving), pause(STOP_GRACE_MS)]);
  }

  #get(apiId: string, connectionId: string): Connection {
    const connection = this.#connections.get(connectionId);
    // One that is closing takes no more messages, though it has not been told goodbye yet.
    if (connection?.apiId !== apiId || connection.socket.readyState !== WebSocket.OPEN)
      throw new AwsError('GoneException', 'The connection is gone.', 410);
    return connection;
  }

  async #verify(
    request: IncomingMessage,
    decide: (
      isAdmitted: boolean,
      status?: number,
      message?: string,
      headers?: Record<string, string>,
    ) => void,
  ): Promise<void> {
    const admission = await this.#admit(request);
    if ('refused' in admission) {
      const { refused, message } = admission;
      return decide(false, refused, JSON.stringify({ message }), { 'content-type': 'application/json' });
    }
    if (request.socket.readable && request.socket.writable) {
      this.#admitted.set(request, admission);
      return decide(true);
    }
    // Gone meanwhile: the function that let it in must hear of its end.
    request.socket.destroy();
    this.#leave(admission.peer, { statusCode: 1006, reason: '' });
  }

  async #admit(request: IncomingMessage): Promise<Admission> {
    const { path, search } = splitUrl(request.url);
    const { api, path: stage } = this.#apis.locate(path) ?? {};
    if (api?.protocol !== 'WEBSOCKET' || stage !== `/${api.stage}`)
      return { refused: 404, message: 'Not Found' };
    const peer: Peer = {
      connectionId: randomBytes(9).toString('base64url'),
      apiId: api.id,
      connectedAtMs: Date.now(),
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
      userAgent: request.headers['user-agent'] ?? '',
      domainName: request.headers.host ?? '',
    };
    const route = routeByKey(api, '$connect');
    if (route === undefined) return { peer };
    const outcome = await this.#invoke(api, route, connectEvent(api, peer, request, search));
    const answer = outcome.kind === 'answered' ? connectAnswer(outcome.payload) : undefined;
    if (answer === undefined) return { refused: 502, message: 'Internal server error' };
    if (answer.status >= 300) return { refused: answer.status, message: 'Forbidden' };
    return { peer, subprotocol: answer.subprotocol };
  }

  #open(connection: Connection): void {
    const { socket } = connection;
    this.#connections.set(connection.connectionId, connection);
    // Frames of one connection are delivered in order, one at a time.
    let turn = Promise.resolve();
    socket.on('message', (data: Buffer) => {
      connection.lastActiveAtMs = Date.now();
      turn = turn.then(() => this.#message(connection, data.toString('utf8')));
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', (statusCode, reason) => {
      this.#connections.delete(connection.connectionId);
      this.#leave(connection, { statusCode, reason: reason.toString('utf8') });
    });
  }

  async #message(connection: Connection, body: string): Promise<void> {
    const requestId = randomUUID();
    const tell = (message: string): void => {
      const { connectionId, socket } = connection;
      socket.send(JSON.stringify({ message, connectionId, requestId }));
    };
    // As the template has it now; a connection may be older.
    const api = this.#apis.get(connection.apiId);
    const route = api && (routeByKey(api, selectedKey(api, body)) ?? routeByKey(api, '$default'));
    if (api === undefined || route === undefined) return tell('Forbidden');
    const event = messageEvent(api, connection, route.key, requestId, body);
    const { kind } = await this.#invoke(api, route, event);
    if (kind === 'late') tell('Endpoint request timed out');
    else if (kind !== 'answered') tell('Internal server error');
  }

  #leave(peer: Peer, end: { statusCode: number; reason: string }): void {
    const api = this.#apis.get(peer.apiId);
    const route = api && routeByKey(api, '$disconnect');
    if (api === undefined || route === undefined) return;
    const leaving = this.#invoke(api, route, disconnectEvent(api, peer, end)).finally(() =>
      this.#leaving.delete(leaving),
    );
    this.#leaving.add(leaving);
  }

  #invoke(api: ApiSpec, route: RouteSpec, event: object): Promise<Integrated> {
    return this.#integration.call({
      route,
      sourceArn: executeApiArn(api.id, api.stage, '', route.key),
      event,
      secondsMax: INTEGRATION_SECONDS_MAX,
    });
  }

  #closeStale(): void {
    const now = Date.now();
    for (const { socket, lastActiveAtMs, connectedAtMs } of this.#connections.values()) {
      const isIdle = now - lastActiveAtMs > IDLE_SECONDS_MAX * 1000;
      if (isIdle || now - connectedAtMs > CONNECTION_SECONDS_MAX * 1000) socket.close(1001, 'Going away');
    }
  }
}

/** The expression has been checked to be `$request.body.<key>`. */
function selectedKey({ routeSelection = '' }: ApiSpec, body: string): string {
  const key = routeSelection.slice(routeSelection.lastIndexOf('.') + 1);
  try {
    const message = JSON.parse(body) as Record<string, unknown> | null;
    const value = message !== null && Object.hasOwn(message, key) ? message[key] : undefined;
    return typeof value === 'string' && !value.startsWith('$') ? value : '$default';
  } catch {
    return '$default';
  }
}

function routeByKey(api: ApiSpec, key: string): RouteSpec | undefined {
  return api.routes.find((route) => route.key === key);
}
