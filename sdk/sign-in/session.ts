import { askForTokens, discover, type Provider, type Tokens, wordsOf } from './provider.ts';
import { lockSession, readSession, type Session, writeSession } from './session-file.ts';
import { SignInError } from './sign-in-error.ts';

/** A token that ends while its request is on the way is no use. */
const LEFT_SECONDS_MIN = 60;

const AGAIN = 'Sign in with “gpuaas login”.';

export function sessionOf({ issuer }: Provider, clientId: string, tokens: Tokens, now: Date): Session {
  const { access_token, expires_in, refresh_token } = tokens;
  const expires_at = new Date(now.getTime() + expires_in * 1000).toISOString();
  return { issuer, client_id: clientId, access_token, expires_at, ...(refresh_token && { refresh_token }) };
}

/** The session with a token that is still good for a while, renewed where it must be. */
export async function currentSession(folder: string): Promise<Session> {
  const session = requireSession(folder);
  if (isGood(session)) return session;
  // Issuers may take a refresh token twice for theft, and end the session: one renews, and the others wait for it.
  return lockSession(folder, async () => {
    const newest = requireSession(folder);
    return isGood(newest) ? newest : renew(folder, newest);
  });
}

function requireSession(folder: string): Session {
  const session = readSession(folder);
  if (session === undefined) throw new SignInError('auth', 'Nobody is signed in.', AGAIN);
  return session;
}

function isGood({ expires_at }: Session): boolean {
  return Date.parse(expires_at) - Date.now() > LEFT_SECONDS_MIN * 1000;
}

async function renew(folder: string, { issuer, client_id, refresh_token }: Session): Promise<Session> {
  if (refresh_token === undefined) throw new SignInError('auth', 'The sign-in has expired.', AGAIN);
  const provider = await discover(issuer);
  const now = new Date();
  const tokens = await askForTokens(provider, { grant_type: 'refresh_token', client_id, refresh_token });
  if ('error' in tokens) {
    const message = `The sign-in has ended or was ended: ${wordsOf(tokens)}`;
    throw new SignInError('auth', message, AGAIN);
  }
  // RFC 6749 §6: where none comes back, the one before stays good.
  const renewed = { refresh_token, ...sessionOf(provider, client_id, tokens, now) };
  writeSession(folder, renewed);
  return renewed;
}
