import * as v from 'valibot';
import { ask, askForTokens, type Provider, readFailure, scopeOf, type Tokens, wordsOf } from './provider.ts';
import { SignInError } from './sign-in-error.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** RFC 8628 §3.2 and §3.5 */
const INTERVAL_SECONDS = 5;

const Shown = v.pipe(v.string(), v.regex(/^[\x20-\x7e]{1,2000}$/));

const Device = v.object({
  device_code: v.string(),
  user_code: Shown,
  verification_uri: Shown,
  expires_in: v.pipe(v.number(), v.minValue(1)),
  interval: v.optional(v.pipe(v.number(), v.minValue(1)), INTERVAL_SECONDS),
});

const AGAIN = 'Sign in again with “gpuaas login --device”.';

export interface DeviceFlow {
  /** Asks the person to type the code there, on whatever machine. */
  show: (address: string, code: string) => void;
  wait: (ms: number) => Promise<void>;
}

/** RFC 8628: for machines without a browser. */
export async function signInByDevice(
  provider: Provider,
  clientId: string,
  { show, wait }: DeviceFlow,
): Promise<Tokens> {
  const { device_authorization_endpoint } = provider;
  if (device_authorization_endpoint === undefined) {
    throw new SignInError(
      'usage',
      'This issuer has no device flow (Amazon Cognito does not).',
      'Sign in on a machine with a browser.',
    );
  }
  const asked = await ask(device_authorization_endpoint, { client_id: clientId, scope: scopeOf(provider) });
  const device = v.safeParse(Device, asked.body);
  if (asked.status !== 200 || !device.success)
    throw refused(wordsOf(readFailure(provider.issuer, asked.status, asked.body)));
  const { device_code, user_code, verification_uri, expires_in, interval } = device.output;
  show(verification_uri, user_code);

  let waitSeconds = interval;
  for (let waitedSeconds = 0; waitedSeconds < expires_in; waitedSeconds += waitSeconds) {
    await wait(waitSeconds * 1000);
    const form = { grant_type: DEVICE_GRANT, client_id: clientId, device_code };
    const tokens = await askForTokens(provider, form);
    if (!('error' in tokens)) return tokens;
    if (tokens.error === 'slow_down') waitSeconds += INTERVAL_SECONDS;
    else if (tokens.error === 'expired_token') break;
    else if (tokens.error !== 'authorization_pending') throw refused(wordsOf(tokens));
  }
  throw new SignInError('auth', 'The code has expired.', AGAIN);
}

function refused(words: string): SignInError {
  return new SignInError('auth', `The sign-in was refused: ${words}`, AGAIN);
}
