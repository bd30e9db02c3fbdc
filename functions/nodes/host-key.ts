import { type PlatformKey, platformKey } from '../platform/auth/platform-key.ts';
import { signJws } from '../platform/auth/sign-jws.ts';
import { environment } from '../platform/environment.ts';

/** The key that signs what hosts must believe: trust documents and agent releases. */
export const hostKey = (): Promise<PlatformKey> => platformKey(environment('HOST_KEY_ID'));

/** A compact JWS. `typ` keeps one kind of statement from being taken for another (RFC 8725 §3.11). */
export async function signForHosts(typ: 'gpuaas-trust+jwt', payload: object): Promise<string> {
  return signJws({ typ }, payload, await hostKey());
}
