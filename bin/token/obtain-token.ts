import { createHash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { API_SCOPE } from '../../lib/local/oidc/clients.ts';
import { CLI_CALLBACKS, CLI_CLIENT_ID } from '../../sdk/sign-in/callbacks.ts';
import { Browser } from './browser.ts';
import { NoToken } from './no-token.ts';

const [CALLBACK] = CLI_CALLBACKS;

const Discovery = v.object({ authorization_endpoint: v.string(), token_endpoint: v.string() });

const Tokens = v.object({
  access_token: v.string(),
  expires_in: v.number(),
  refresh_token: v.optional(v.string()),
});

export type Tokens = v.InferOutput<typeof Tokens>;

/**
 * Signs a person in with the development provider as the command line would (RFC 8252, RFC 7636), with this
 * function in the place of the browser.
 */
export async function obtainToken({ issuer, email }: { issuer: string; email: string }): Promise<Tokens> {
  const browser = new Browser(issuer);
  const discovery = await browser.fetch(`${issuer}/.well-known/openid-configuration`);
  const { authorization_endpoint, token_endpoint } = await read(discovery, Discovery);

  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const request = new URL(authorization_endpoint);
  request.search = new URLSearchParams({
    client_id: CLI_CLIENT_ID,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: `openid email ${API_SCOPE}`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
  }).toString();

  const code = codeFrom(await signIn(browser, request.href, email), state);
  const answer = await browser.fetch(token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: CLI_CLIENT_ID,
      redirect_uri: CALLBACK,
      code,
      code_verifier: verifier,
    }),
  });
  return read(answer, Tokens);
}

/** Returns the address the browser was sent back to; nobody needs to listen there to read it. */
async function signIn(browser: Browser, address: string, email: string): Promise<URL> {
  const shown = await browser.visit(address, CALLBACK);
  if ('left' in shown) return shown.left;
  const people = [...shown.html.matchAll(/ name="email" value="([^"]+)"/g)].map(([, person = '']) => person);
  if (!people.includes(email))
    throw new NoToken(
      `There is no person with the address ${email}. Known addresses:\n  ${people.join('\n  ')}`,
    );
  const after = await browser.visit(shown.url, CALLBACK, new URLSearchParams({ email }));
  if ('left' in after) return after.left;
  throw new NoToken(`The provider showed an unexpected page after the sign-in (${after.url}).`);
}

function codeFrom({ searchParams }: URL, state: string): string {
  const code = searchParams.get('code');
  if (code !== null && searchParams.get('state') === state) return code;
  const reason = searchParams.get('error_description') ?? searchParams.get('error') ?? 'it returned no code';
  throw new NoToken(`The provider refused the sign-in: ${reason}.`);
}

async function read<const T extends v.GenericSchema>(
  response: Response,
  schema: T,
): Promise<v.InferOutput<T>> {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), await response.text());
  if (response.ok && parsed.success) return parsed.output;
  throw new NoToken(`${response.url} answers, but is not the provider (status ${response.status}).`);
}
