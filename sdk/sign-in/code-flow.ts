import { createHash, randomBytes } from 'node:crypto';
import { listenForCallback, type Page } from './callback-listener.ts';
import { askForTokens, type Provider, scopeOf, type Tokens, wordsOf } from './provider.ts';
import { SignInError } from './sign-in-error.ts';

const SIGN_IN_MINUTES_MAX = 5;

const DONE: Page = { title: 'Signed in', text: 'You can close this page and go back to the command line.' };
const FAILED: Page = { title: 'Not signed in', text: 'Go back to the command line; it says why.' };

const AGAIN = 'Sign in again with “gpuaas login”.';

/** RFC 6749 §4.1 with RFC 7636 and RFC 8252; `show` gets the browser to the address. */
export async function signInByCode(
  provider: Provider,
  clientId: string,
  show: (address: string) => void,
): Promise<Tokens> {
  const listener = await listenForCallback();
  let page = FAILED;
  try {
    const state = randomBytes(32).toString('base64url');
    const verifier = randomBytes(32).toString('base64url');
    show(addressOf(provider, clientId, { state, verifier, callback: listener.address }));
    const code = readCode(await inTime(listener.received), { state, provider });
    const tokens = await askForTokens(provider, {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: listener.address,
      code,
      code_verifier: verifier,
    });
    if ('error' in tokens)
      throw new SignInError('auth', `The sign-in was refused: ${wordsOf(tokens)}.`, AGAIN);
    page = DONE;
    return tokens;
  } finally {
    await listener.close(page);
  }
}

function addressOf(
  { authorization_endpoint, ...provider }: Provider,
  clientId: string,
  { state, verifier, callback }: { state: string; verifier: string; callback: string },
): string {
  const address = new URL(authorization_endpoint);
  const asked = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callback,
    scope: scopeOf({ authorization_endpoint, ...provider }),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  return address.href;
}

/** What the browser brought is anybody's word until its state is the one that was sent. */
function readCode(
  params: URLSearchParams,
  { state, provider }: { state: string; provider: Provider },
): string {
  if (single(params, 'state') !== state)
    throw new SignInError('auth', 'The answer is not to this sign-in: its state is another.', AGAIN);
  // RFC 9207 §2.4: the answer of one issuer must not pass for another's.
  const iss = single(params, 'iss');
  const isTheirs =
    iss === undefined ? !provider.authorization_response_iss_parameter_supported : iss === provider.issuer;
  if (!isTheirs) throw new SignInError('auth', 'The answer is not from this issuer.', AGAIN);
  const error = single(params, 'error');
  if (error !== undefined) {
    const words = single(params, 'error_description') ?? error;
    throw new SignInError('auth', `The sign-in was refused: ${printable(words)}`, AGAIN);
  }
  const code = single(params, 'code');
  if (code === undefined) throw new SignInError('auth', 'The answer has no code.', AGAIN);
  return code;
}

/** RFC 6749 §3.1: what is there twice is as good as not there. */
function single(params: URLSearchParams, name: string): string | undefined {
  const [first, ...others] = params.getAll(name);
  return others.length === 0 ? first : undefined;
}

const printable = (words: string): string => words.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 300);

async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new SignInError('auth', `Nobody signed in within ${SIGN_IN_MINUTES_MAX} minutes.`, AGAIN)),
    SIGN_IN_MINUTES_MAX * 60_000,
  );
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
