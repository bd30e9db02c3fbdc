import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '../../../bin/token/browser.ts';
import { openJournal } from '../../../lib/local/journal/journal.ts';
import type { Person } from '../../../lib/local/oidc/people.ts';
import { createOidcProvider } from '../../../lib/local/oidc/provider.ts';
import { CLI_CALLBACKS, CLI_CLIENT_ID } from '../../../sdk/sign-in/callbacks.ts';

export const OWNER = 'owner@example.com';
export const VIEWER = 'viewer@example.com';

const PEOPLE: Person[] = [
  { email: OWNER, name: 'Olivia Owner' },
  { email: VIEWER, name: `Vera "<b>V</b>" & 'co'` },
];

/** The provider alone, on a port and a data folder of its own or of an earlier one. */
export async function openOidc(earlier?: { dataDir: string; port: number }) {
  const dataDir = earlier?.dataDir ?? mkdtempSync(join(tmpdir(), 'oidc-'));
  const server = createServer((request, response) => {
    // A connection kept for later would belong to a server that is gone after a restart.
    response.shouldKeepAlive = false;
    oidc.serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(earlier?.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const journal = openJournal(dataDir);
  const oidc = createOidcProvider({ url, people: PEOPLE, journal, dataDir, secret: Buffer.alloc(32, 7) });

  /** Like the end of the process: the data stays. */
  const stop = async (): Promise<void> => {
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    journal.close();
  };
  return {
    url,
    port,
    dataDir,
    journal,
    issuer: oidc.issuer,
    serves: (path: string) => oidc.serves(path),
    newBrowser: () => new Browser(url),
    stop,
    async close(): Promise<void> {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export type Oidc = Awaited<ReturnType<typeof openOidc>>;

export interface Ask {
  client_id?: string;
  redirect_uri?: string;
  /** Other parameters of the authorization request; undefined leaves one out. */
  [parameter: string]: string | undefined;
}

/** An authorization request as a client would make it, and what the client keeps to itself. */
export function authorization(
  oidc: Oidc,
  ask: Ask = {},
): { address: string; verifier: string; exit: string } {
  const verifier = randomBytes(32).toString('base64url');
  const parameters: Ask = {
    client_id: CLI_CLIENT_ID,
    redirect_uri: CLI_CALLBACKS[0],
    response_type: 'code',
    scope: 'openid email profile api',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'the-state',
    ...ask,
  };
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return {
    address: `${oidc.issuer}/auth?${new URLSearchParams(given).toString()}`,
    verifier,
    exit: String(parameters['redirect_uri']),
  };
}

/** Signs somebody in; returns with what the client was sent. */
export async function signIn(
  oidc: Oidc,
  email: string,
  ask: Ask = {},
  browser: Browser = oidc.newBrowser(),
): Promise<{ answer: URLSearchParams; code: string; verifier: string }> {
  const { address, verifier, exit } = authorization(oidc, ask);
  const shown = await browser.visit(address, exit);
  const after =
    'left' in shown ? shown : await browser.visit(shown.url, exit, new URLSearchParams({ email }));
  if (!('left' in after)) throw new Error(`The sign-in ended at a page:\n${after.html}`);
  const answer = after.left.searchParams;
  return { answer, verifier, code: answer.get('code') ?? '' };
}

export interface TokenAnswer {
  status: number;
  error?: string;
  access_token: string;
  id_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
  token_type: string;
}

export async function askForToken(
  oidc: Oidc,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const body = new URLSearchParams({ client_id: CLI_CLIENT_ID, ...form });
  const response = await fetch(`${oidc.issuer}/token`, { method: 'POST', body, headers });
  return { status: response.status, ...((await response.json()) as object) } as TokenAnswer;
}

export function redeem(
  oidc: Oidc,
  { code, verifier }: { code: string; verifier: string },
  form: Record<string, string> = {},
): Promise<TokenAnswer> {
  return askForToken(oidc, {
    grant_type: 'authorization_code',
    redirect_uri: CLI_CALLBACKS[0],
    code,
    code_verifier: verifier,
    ...form,
  });
}

export const refresh = (oidc: Oidc, token: string, form: Record<string, string> = {}): Promise<TokenAnswer> =>
  askForToken(oidc, { grant_type: 'refresh_token', refresh_token: token, ...form });

/** The fields of the first form of a page, and where it goes. */
export function formOf(page: { url: string; html: string }): { action: string; fields: URLSearchParams } {
  const [, action] = /<form[^>]* action="([^"]+)"/.exec(page.html) ?? [];
  const fields = [...page.html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return {
    action: action ?? page.url,
    fields: new URLSearchParams(fields.map(([, name = '', value = '']): [string, string] => [name, value])),
  };
}
