import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { AwsError, type AwsResponse } from './aws.ts';

const agent = new Agent({ keepAlive: true });

/** Of the connection or of the sender, not of the message. */
const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'date',
  'server',
  'host',
]);

export interface ForwardedCall {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body: Buffer | string;
}

/** Where an engine answers. Without an agent of its own, on a port of this machine. */
export interface EngineAddress {
  url: string;
  agent?: Agent;
}

/** Hands a call to an engine on this machine. One that does not answer is a 503, which SDKs try again. */
export async function forward(
  engine: EngineAddress & { name: string; secondsMax: number },
  call: ForwardedCall,
): Promise<AwsResponse & { headers: Record<string, string>; body: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    headers: Record<string, string>;
    body: Buffer;
  }>();
  const { hostname, port } = new URL(engine.url);
  const outgoing = httpRequest({
    agent: engine.agent ?? agent,
    hostname,
    port,
    method: call.method,
    // Never resolved as a URL: an object's key may hold `..`, and `//elsewhere` must not lead there.
    path: call.path,
    headers: { ...call.headers, 'content-length': Buffer.byteLength(call.body) },
    signal: AbortSignal.timeout(engine.secondsMax * 1000),
  });
  outgoing.on('error', reject);
  outgoing.on('response', (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', reject);
    incoming.on('end', () =>
      resolve({
        status: incoming.statusCode ?? 502,
        headers: {
          ...messageHeaders(incoming.headers),
          ...(call.method === 'HEAD' && lengthOf(incoming.headers)),
        },
        body: Buffer.concat(chunks),
      }),
    );
  });
  outgoing.end(call.body);
  return promise.catch((error: Error) => {
    throw new AwsError(
      'ServiceUnavailableException',
      `${engine.name} does not answer (${error.message}).`,
      503,
    );
  });
}

/** The answer to a HEAD has a length and no body to take it from. */
function lengthOf({ 'content-length': length }: IncomingHttpHeaders): Record<string, string> {
  return length === undefined ? {} : { 'content-length': length };
}

export function messageHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !hopHeaders.has(name),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
