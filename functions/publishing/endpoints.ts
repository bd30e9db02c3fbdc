import { createIntent } from './create-intent.ts';
import { getIntent } from './get-intent.ts';
import { getRegistry } from './get-registry.ts';
import { unwrapCredential } from './unwrap-credential.ts';

/** Every handler of the domain, by the name its routes call it. */
export const publishingEndpoints = { createIntent, getIntent, getRegistry, unwrapCredential };
