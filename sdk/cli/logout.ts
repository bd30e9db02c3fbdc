import { ask, discover } from '../sign-in/provider.ts';
import { readSession, removeSession, type Session, sessionFolder } from '../sign-in/session-file.ts';
import { SignInError } from '../sign-in/sign-in-error.ts';
import { tell, type Answering, type Streams } from './streams.ts';

/** `gpuaas logout`: forgets the tokens here first, so that they are gone whatever the issuer says. */
export async function logout(options: Answering, streams: Streams): Promise<void> {
  const folder = sessionFolder(process.env);
  const session = readSession(folder);
  removeSession(folder);
  if (session === undefined) tell(streams, options, 'Nobody was signed in.');
  else {
    await revoke(session);
    tell(streams, options, `Signed out of ${session.issuer}. The browser may still be signed in there.`);
  }
}

/** RFC 7009: of the token that others are made from. */
async function revoke({ issuer, client_id, refresh_token }: Session): Promise<void> {
  if (refresh_token === undefined) return;
  const { revocation_endpoint } = await discover(issuer);
  if (revocation_endpoint === undefined) return;
  const form = { client_id, token: refresh_token, token_type_hint: 'refresh_token' };
  const { status } = await ask(revocation_endpoint, form);
  if (status === 200) return;
  throw new SignInError(
    'failed',
    `Signed out here, but ${issuer} did not end the session (status ${status}).`,
    'It ends by itself when its refresh token expires.',
  );
}
