// Loaded into an agent before its own code (node --import): tells whoever started it of every request it makes.

import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/** Sent to the parent when a request begins. */
export interface Requested {
  /** What kind: the operation of a queue, or method and path without ids. */
  kind: string;
  /** Since 1970. */
  atMs: number;
}

const tell = (kind: string): void =>
  void process.send?.({ kind, atMs: performance.timeOrigin + performance.now() } satisfies Requested);

/** Ids in a path change from one request to the next. */
const withoutIds = (path: string): string => path.replace(/\?.*/, '').replaceAll(/[0-9a-f-]{36}/g, '*');

// What the AWS SDK sends. The engine's socket is on this machine and costs nothing.
subscribe('http.client.request.start', (message) => {
  const { request } = message as { request: ClientRequest & { socketPath?: string } };
  const isEngine = request.socketPath !== undefined && request.socketPath !== null;
  if (!isEngine)
    tell(String(request.getHeader('x-amz-target') ?? `${request.method} ${withoutIds(request.path)}`));
});

// What it sends with fetch.
subscribe('undici:request:create', (message) => {
  const { request } = message as { request: { method: string; path: string } };
  tell(`${request.method} ${withoutIds(request.path)}`);
});
