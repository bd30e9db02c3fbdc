import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';

/** What every token of this API is for: its `aud`. */
export const API_AUDIENCE = 'urn:gpuaas:api';
/** RFC 9068 §2.1 */
export const ACCESS_TOKEN_TYPE = 'at+jwt';

export const TOKEN_CHARACTERS_MAX = 8_192;
export const CLOCK_SKEW_SECONDS = 30;
const KID_CHARACTERS_MAX = 256;

/** RFC 8725 §3.10: a token does not get to say which key it is to be checked with, or by which rules. */
const UNBELIEVED = ['jku', 'jwk', 'x5u', 'x5c', 'crit'];

export { PublicJwk } from '../public-jwk.ts';

/** What a token says of itself. Nothing of it is believed yet. */
export interface Claimed {
  header: ProtectedHeaderParameters;
  keyId: string;
  claims: JWTPayload;
}

/** Nothing where the text has not the form of a signed token, or asks for something that is never granted. */
export function readClaimed(token: string): Claimed | undefined {
  if (token.length > TOKEN_CHARACTERS_MAX || !isCompact(token)) return undefined;
  try {
    const header = decodeProtectedHeader(token);
    const { kid } = header;
    if (typeof kid !== 'string' || kid === '' || kid.length > KID_CHARACTERS_MAX) return undefined;
    if (UNBELIEVED.some((name) => name in header)) return undefined;
    return { header, keyId: kid, claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

// base64url has several spellings of the same bytes, and a signature covers the text of the other two parts alone:
// only one spelling is taken, so that one signed token is one string.
function isCompact(token: string): boolean {
  const parts = token.split('.', 4);
  return (
    parts.length === 3 &&
    parts.every((part) => part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part)
  );
}
