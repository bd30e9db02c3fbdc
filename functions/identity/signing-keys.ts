import { fetchKmsKey, type KmsKey } from '../platform/auth/kms-key.ts';
import { environment } from '../platform/environment.ts';

/** A key the platform signs its tokens with. */
export type PlatformKey = KmsKey;

let known: Promise<PlatformKey[]> | undefined;

/** In the order they are configured. Asked for once. */
export function platformKeys(): Promise<PlatformKey[]> {
  known ??= Promise.all(environment('SIGNING_KEY_IDS').split(',').map(fetchKmsKey)).catch(
    (error: unknown) => {
      known = undefined;
      throw error;
    },
  );
  return known;
}
