import type { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import type { Journal } from '../journal/journal.ts';
import { say } from '../wire/say.ts';
import { deriveKey } from '../journal/seal.ts';
import { bounded } from './bounds.ts';
import { configurationOf } from './configuration.ts';
import { Interactions } from './interactions.ts';
import { SECURITY_HEADERS } from './page.ts';
import type { Person } from './people.ts';
import { showFailure } from './provider-pages.ts';
import { openSigningKey } from './signing-key.ts';

const OIDC_PATH = '/_oidc';
const INTERACTION_PATH = '/interaction/';
const BOUNDS = { burst: 1000, perSecond: 300, answerSecondsMax: 10 };

export const issuerAt = (url: string): string => url + OIDC_PATH;

export interface OidcOptions {
  /** Of the front door. */
  url: string;
  people: readonly Person[];
  journal: Journal;
  dataDir: string;
  /** What cookies are signed with is derived from it. */
  secret: Buffer;
}

export interface OidcProvider {
  issuer: string;
  serves(path: string): boolean;
  serve: RequestListener;
}

/** A real OpenID provider below the front door, for the people of this machine. */
export function createOidcProvider({ url, people, journal, dataDir, secret }: OidcOptions): OidcProvider {
  const issuer = issuerAt(url);
  const provider = new Provider(
    issuer,
    configurationOf({
      url,
      people,
      journal,
      signingKey: openSigningKey(dataDir),
      cookieKey: deriveKey(secret, 'oidc cookies').toString('base64url'),
      interactionPath: (uid) => `${OIDC_PATH}${INTERACTION_PATH}${uid}`,
    }),
  );
  // Of a native client the provider would take any port (RFC 8252 §7.3). Cognito does not, so nor does this one.
  provider.Client.prototype.redirectUriAllowed = function isRegistered(address) {
    return this.redirectUris?.includes(address) === true;
  };
  const failed = (error: unknown): void =>
    say('oidc', `a request failed: ${error instanceof Error ? error.stack : String(error)}`);
  provider.on('server_error', (_ctx, error) => failed(error));
  // Koa's own event, which the types leave out; unheard, Koa would write to the console itself.
  (provider as EventEmitter).on('error', failed);

  provider.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      // Koa would drop the headers that keep the page harmless.
      failed(error);
      ctx.status = 500;
      showFailure(ctx);
    }
  });

  const interactions = new Interactions(provider, people);
  const callback = provider.callback();
  const { host } = new URL(url);

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    if (request.headers.host !== host) return refuseHost(request, response, url);
    const path = belowMount(request);
    if (path.startsWith(INTERACTION_PATH)) {
      interactions.serve(request, response).catch((error: unknown) => {
        failed(error);
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    } else void callback(request, response);
  };
  return {
    issuer,
    serves: (path) => new RegExp(`^${OIDC_PATH}(?=[/?]|$)`).test(path),
    serve: bounded(serve, BOUNDS),
  };
}

/** The provider learns from `originalUrl` that it does not stand at the root. */
function belowMount(request: IncomingMessage & { originalUrl?: string }): string {
  request.originalUrl = request.url ?? '';
  const path = request.originalUrl.slice(OIDC_PATH.length);
  request.url = path.startsWith('/') ? path : `/${path}`;
  return request.url;
}

/**
 * The cookies hold for one host name only; and as nobody is asked for a password, a web site whose name was made to
 * point at this machine could otherwise sign itself in.
 */
function refuseHost(request: IncomingMessage, response: ServerResponse, url: string): void {
  if (request.method === 'GET') response.writeHead(307, { location: url + (request.url ?? '') }).end();
  else response.writeHead(421, { 'content-type': 'text/plain' }).end(`Use ${issuerAt(url)}.\n`);
}
