import * as v from 'valibot';
import { document, query } from '../platform/http/endpoint.ts';
import { PublicKey } from '../platform/auth/signing.ts';
import { platformKeys } from './signing-keys.ts';

const PublishedKey = v.object({
  ...PublicKey.entries,
  alg: v.literal('ES256'),
  use: v.literal('sig'),
});

/** Always both keys: clients that cache the list have the next key before it signs. */
export const getJwks = query(
  {
    summary: 'Get the public keys that verify the platform’s tokens (RFC 7517)',
    reply: v.object({ keys: v.array(PublishedKey) }),
  },
  async () => {
    const keys = (await platformKeys()).map(({ publicKey }) => ({ ...publicKey, alg: 'ES256', use: 'sig' }));
    return document({ keys }, { 'cache-control': 'public, max-age=300' });
  },
);
