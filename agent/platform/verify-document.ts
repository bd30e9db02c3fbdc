import { compactVerify, importJWK } from 'jose';
import * as v from 'valibot';
import type { Config } from '../config/config.ts';
import { parseJson } from './platform-error.ts';

export class DocumentRefused extends Error {}

/** What the platform signed for hosts, believed only by the key that was pinned when the host joined. */
export async function verifyDocument<T>(
  document: string,
  hostKey: Config['host_key'],
  schema: v.GenericSchema<unknown, T>,
  /** Set where a document of another kind must not pass for this one. */
  typ?: string,
): Promise<T> {
  const verified = await verify(document, hostKey);
  if (!verified) throw new DocumentRefused('The signature of the platform does not hold.');
  if (typ !== undefined && verified.typ !== typ)
    throw new DocumentRefused(`The signed document is not of the type ${typ}.`);
  const parsed = v.safeParse(schema, parseJson(verified.text));
  if (!parsed.success) throw new DocumentRefused('The signed document is not understood.');
  return parsed.output;
}

async function verify(document: string, { kty, crv, x, y }: Config['host_key']) {
  try {
    const key = await importJWK({ kty, crv, x, y }, 'ES256');
    const { payload, protectedHeader } = await compactVerify(document, key, { algorithms: ['ES256'] });
    return { text: new TextDecoder().decode(payload), typ: protectedHeader.typ };
  } catch {
    return undefined;
  }
}
