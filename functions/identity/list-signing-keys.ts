import { query } from '../platform/http/endpoint.ts';
import { SigningKeys, viewSigningKeys } from './signing-key.ts';
import { platformKeys } from './signing-keys.ts';
import { findSigningState } from './signing-store.ts';

export const listSigningKeys = query(
  { summary: 'List the keys that sign the platform’s tokens', reply: SigningKeys },
  async (ctx) => {
    const kids = (await platformKeys()).map(({ kid }) => kid);
    return viewSigningKeys(kids, await findSigningState(), ctx.now());
  },
);
