import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AwsError, type AwsRequest, type AwsResponse, type Service } from '../wire/aws.ts';
import type { Iam } from './iam.ts';
import type { Principals } from './principals.ts';
import { say } from '../wire/say.ts';
import { isSigned, readSignature, verifySignature, type Signature, type SignedRequest } from './sigv4.ts';
import {
  decodeAwsChunked,
  errorAnswer,
  guessProtocol,
  readBody,
  splitUrl,
  writeAnswer,
} from '../wire/wire.ts';

const OBJECT_BYTES_MAX = 64 * 1024 * 1024;
const BODY_BYTES_MAX = 10 * 1024 * 1024;

/** What a service may do beyond answering. */
export interface FrontDoorService extends Service {
  /** Looks up what `access` will have to know. */
  prepare?(request: AwsRequest): Promise<void>;
  /** The caller hung up before the answer could be given. */
  undelivered?(request: AwsRequest, response: AwsResponse): Promise<void>;
}

export interface FrontDoorOptions {
  principals: Principals;
  iam: Iam;
  services: FrontDoorService[];
  /** Requests without an AWS signature: the HTTP gateway. */
  fallback: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void> | void;
  onDenied?: (message: string) => void;
}

export interface FrontDoor {
  url: string;
  close(): Promise<void>;
}

export interface ClaimedPort extends FrontDoor {
  open(options: FrontDoorOptions): void;
}

/** The one port on which every AWS client of this machine finds its service; 0 for a free one. */
export async function openFrontDoor(options: FrontDoorOptions & { port: number }): Promise<FrontDoor> {
  const door = await claimPort(options.port);
  door.open(options);
  return door;
}

/** Listens before there is anything to serve: what is started meanwhile is told the address, and nobody can take it. */
export async function claimPort(port: number): Promise<ClaimedPort> {
  let options: FrontDoorOptions | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: unknown) => giveUp(error, request, response));
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    upgrade(options, request, socket, head).catch((error: unknown) => {
      say('front door', `the upgrade at ${splitUrl(request.url).path} failed: ${trace(error)}`);
      socket.destroy();
    });
  });
  // SDKs keep connections for reuse; closing them while one is about to be reused costs a failed request.
  server.keepAliveTimeout = 75_000;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortTaken(port) : error),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: (given) => {
      options = given;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export class PortTaken extends Error {
  constructor(port: number) {
    super(`Port ${port} is taken. Name another with --port, or leave it out to get a free one.`);
    this.name = 'PortTaken';
  }
}

async function answer(
  options: FrontDoorOptions | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (options === undefined) {
    const headers = { 'content-type': 'application/json', 'retry-after': '1' };
    const body = JSON.stringify({ message: 'The platform is starting.' });
    return writeAnswer(response, { status: 503, headers, body });
  }
  if (isSigned(request.headers, splitUrl(request.url).search))
    return answerAwsRequest(options, request, response);
  await options.fallback(request, response);
}

async function upgrade(
  options: FrontDoorOptions | undefined,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  if (options === undefined) socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n');
  else await options.upgrade(request, socket, head);
}

/** The last net: one request may fail, the door stays open. A client that hung up is no failure. */
function giveUp(error: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (response.destroyed) return;
  say('front door', `${request.method} ${splitUrl(request.url).path} failed: ${trace(error)}`);
  if (response.headersSent) return void response.destroy();
  const headers = { 'content-type': 'application/json' };
  writeAnswer(response, { status: 500, headers, body: JSON.stringify({ message: 'Internal Server Error' }) });
}

async function answerAwsRequest(
  options: FrontDoorOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  const headers = singleHeaders(incoming);
  let service: FrontDoorService | undefined;
  try {
    const signature = readSignature({ headers, search: splitUrl(incoming.url).search });
    service = findService(options.services, signature);
    const request = await admit(options, service, incoming, headers, signature);
    const answer = await service.handle(request);
    if (outgoing.destroyed) await service.undelivered?.(request, answer);
    else write(outgoing, answer, requestId);
  } catch (thrown) {
    if (outgoing.destroyed) return;
    const error = thrown instanceof AwsError ? thrown : unexpected(thrown, service, incoming);
    if (error.code.startsWith('AccessDenied')) options.onDenied?.(error.message);
    // The rest of a body that was refused for its size is not waited for.
    if (error.status === 413) outgoing.setHeader('connection', 'close');
    write(outgoing, errorAnswer(service?.protocol ?? guessProtocol(headers), error, requestId), requestId);
  }
}

/** The request, once it is known who sent it and that they may. */
async function admit(
  { principals, iam }: FrontDoorOptions,
  service: FrontDoorService,
  incoming: IncomingMessage,
  headers: Record<string, string>,
  signature: Signature,
): Promise<AwsRequest> {
  const { path, search } = splitUrl(incoming.url);
  const body = await readBody(incoming, signature.service === 's3' ? OBJECT_BYTES_MAX : BODY_BYTES_MAX);
  const signed = { method: incoming.method ?? 'GET', path, search, headers, body };
  const known = principals.find(signature.accessKeyId, signature.sessionToken);
  if (known === undefined) {
    throw new AwsError(
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
    );
  }
  verifySignature(signed, signature, known.secretAccessKey, new Date());
  const request = {
    ...withoutChunks(signed),
    query: new URLSearchParams(search),
    principal: known.principal,
  };
  await service.prepare?.(request);
  for (const access of service.access(request)) iam.authorize(known.principal, access);
  return request;
}

function findService(services: FrontDoorService[], { service: scope }: Signature): FrontDoorService {
  const found = services.find((service) => service.scope === scope);
  if (found !== undefined) return found;
  const hosted = services.map((service) => service.scope).join(', ');
  throw new AwsError(
    'UnknownServiceException',
    `This machine hosts no service with the credential scope '${scope}'; it hosts ${hosted}.`,
    404,
  );
}

/** A streamed body comes in parts with its checksum behind it; services see it whole, with the checksum as a header. */
function withoutChunks(request: SignedRequest): SignedRequest {
  if (request.headers['x-amz-content-sha256'] !== 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') return request;
  const { body, trailers } = decodeAwsChunked(request.body);
  const checksums = Object.entries(trailers).filter(([name]) => name.startsWith('x-amz-checksum-'));
  const headers = { ...request.headers, ...Object.fromEntries(checksums) };
  const encodings = headers['content-encoding']?.split(',').map((encoding) => encoding.trim()) ?? [];
  headers['content-encoding'] = encodings.filter((encoding) => encoding !== 'aws-chunked').join(', ');
  if (headers['content-encoding'] === '') delete headers['content-encoding'];
  for (const name of ['x-amz-trailer', 'x-amz-decoded-content-length']) delete headers[name];
  return { ...request, headers, body };
}

function unexpected(thrown: unknown, service: Service | undefined, incoming: IncomingMessage): AwsError {
  const who = service?.scope ?? 'a request';
  say('front door', `${who} failed at ${incoming.method} ${splitUrl(incoming.url).path}: ${trace(thrown)}`);
  return new AwsError('InternalFailure', "The local service failed; the engine's output says why.", 500);
}

function trace(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

function write(outgoing: ServerResponse, answer: AwsResponse, requestId: string): void {
  const ids = { 'x-amzn-requestid': requestId, 'x-amz-request-id': requestId };
  writeAnswer(outgoing, { ...answer, headers: { ...answer.headers, ...ids } });
}

function singleHeaders(incoming: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
}
