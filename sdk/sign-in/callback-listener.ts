import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { CLI_CALLBACKS } from './callbacks.ts';
import { SignInError } from './sign-in-error.ts';

export interface CallbackListener {
  /** Where the issuer is to send the browser. */
  address: string;
  /** What the browser brought; it waits for an answer. */
  received: Promise<URLSearchParams>;
  /** Shows the browser how it ended, and listens no more. */
  close(page: Page): Promise<void>;
}

export interface Page {
  title: string;
  text: string;
}

/** Listens at the first callback address that is free, for one answer. */
export async function listenForCallback(): Promise<CallbackListener> {
  for (const address of CLI_CALLBACKS) {
    const server = createServer();
    if (await listen(server, address)) return expectOne(server, address);
  }
  const ports = CLI_CALLBACKS.map((address) => new URL(address).port).join(', ');
  throw new SignInError(
    'conflict',
    `The ports for the answer to a sign-in are all taken (${ports}).`,
    'End another “gpuaas login”, or whatever listens on one of them, and try again.',
  );
}

async function listen(server: Server, address: string): Promise<boolean> {
  const { hostname, port } = new URL(address);
  server.listen(Number(port), hostname);
  try {
    await once(server, 'listening');
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' || code === 'EACCES') return false;
    throw error;
  }
}

function expectOne(server: Server, address: string): CallbackListener {
  const { host, pathname } = new URL(address);
  const { promise: received, resolve } = Promise.withResolvers<URLSearchParams>();
  let waiting: ServerResponse | undefined;
  server.on('request', (request, response) => {
    const asked = URL.parse(request.url ?? '', address);
    const isCallback =
      request.method === 'GET' && request.headers.host === host && asked?.pathname === pathname;
    if (!isCallback || waiting !== undefined) {
      response.writeHead(404, { connection: 'close' }).end();
      return;
    }
    waiting = response;
    resolve(asked.searchParams);
  });
  return {
    address,
    received,
    async close(page) {
      const closed = once(server, 'close');
      server.close();
      if (waiting !== undefined) await show(waiting, page);
      // A browser may keep connections for later.
      server.closeAllConnections();
      await closed;
    },
  };
}

async function show(response: ServerResponse, { title, text }: Page): Promise<void> {
  const gone = once(response, 'close');
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      // The address has the code in it.
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close',
    })
    .end(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`,
    );
  await gone;
}
