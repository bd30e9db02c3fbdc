import { fetchKmsKey, type KmsKey, signCompact } from '../platform/auth/kms-key.ts';
import { environment } from '../platform/environment.ts';

let known: Promise<KmsKey> | undefined;

/** The key that signs what hosts must believe: trust documents and agent releases. Asked for once. */
export function hostKey(): Promise<KmsKey> {
  known ??= fetchKmsKey(environment('HOST_KEY_ID')).catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
}

/** A compact JWS. `typ` keeps one kind of statement from being taken for another (RFC 8725 §3.11). */
export async function signForHosts(
  typ: 'gpuaas-trust+jwt' | 'gpuaas-release+jwt',
  payload: object,
): Promise<string> {
  const key = await hostKey();
  return signCompact({ alg: 'ES256', typ, kid: key.kid }, payload, key);
}
