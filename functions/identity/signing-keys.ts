import { type PlatformKey, platformKey } from '../platform/auth/platform-key.ts';
import { environment } from '../platform/environment.ts';

/** The keys the platform signs its tokens with, in the order they are configured. */
export function platformKeys(): Promise<PlatformKey[]> {
  return Promise.all(environment('SIGNING_KEY_IDS').split(',').map(platformKey));
}
