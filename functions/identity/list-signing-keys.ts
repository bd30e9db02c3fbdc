import { query } from '../platform/http/endpoint.ts';
import { SigningKeys, viewSigningKeys } from './signing-key.ts';
import { platformKeys } from './signing-keys.ts';
import { findSigningState } from './signing-store.ts';

export const listSigningKeys = query(
  { summary: 'List the keys the platform signs tokens with', reply: SigningKeys },
  async (ctx) => {
    const kids = (await platformKeys()).map(({ kid }) => kid);
    return viewSigningKeys(kids, await findSigningState(), ctx.now());
  },
);
