import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import * as v from 'valibot';
import { environment } from '../environment.ts';
import { refuse } from '../errors.ts';

const TIMEOUT_MS = 2_000;
/** A token naming an unknown key makes us ask the issuer again, but no more often than this. */
const COOLDOWN_MS = 30_000;
const CACHED_MS = 10 * 60_000;
const ANSWER_BYTES_MAX = 64 * 1024;

const text = v.pipe(v.string(), v.minLength(1));

/** An issuer whose people may sign in, and how its tokens are told from others. */
const Issuer = v.strictObject({
  issuer: text,
  jwks_uri: v.pipe(v.string(), v.url()),
  /** Several where each client is its own audience. */
  audience: v.pipe(
    v.union([text, v.pipe(v.array(text), v.minLength(1))]),
    v.transform((audience) => [audience].flat()),
  ),
  /** Cognito names the client in its access tokens where others name the audience. */
  audience_claim: v.picklist(['aud', 'client_id']),
  // Public-key algorithms alone: with a shared secret, whoever can check a token could make one.
  algorithms: v.pipe(v.array(v.picklist(['ES256', 'ES384', 'PS256', 'RS256', 'EdDSA'])), v.minLength(1)),
  /** Null where the issuer gives its access tokens no type. */
  typ: v.nullable(text),
  /** Whether its access tokens tell people's addresses, and whether these were verified. */
  tells_email: v.boolean(),
});

export type Issuer = v.InferOutput<typeof Issuer> & { keys: JWTVerifyGetKey };

let known: Map<string, Issuer> | undefined;

/** Only an issuer that is configured, under exactly its name. */
export function findIssuer(name: unknown): Issuer | undefined {
  known ??= new Map(
    readIssuers().map((issuer) => [issuer.issuer, { ...issuer, keys: keysOf(issuer.jwks_uri) }]),
  );
  return typeof name === 'string' ? known.get(name) : undefined;
}

function readIssuers(): v.InferOutput<typeof Issuer>[] {
  return v.parse(v.array(Issuer), JSON.parse(environment('OIDC_ISSUERS')));
}

function keysOf(uri: string): JWTVerifyGetKey {
  const published = createRemoteJWKSet(new URL(uri), {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: COOLDOWN_MS,
    cacheMaxAge: CACHED_MS,
    [customFetch]: fetchBounded,
  });
  return async (header, token) => {
    try {
      return await published(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
        throw error;
      const refusal = refuse('unavailable', { detail: 'The issuer of the token does not answer.' });
      refusal.cause = error;
      throw refusal;
    }
  };
}

async function fetchBounded(url: string, options: RequestInit): Promise<Response> {
  const { body, status } = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`The keys of ${url} are over ${ANSWER_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status });
}
