import * as v from 'valibot';

/** The public half of a P-256 key, as RFC 7517 writes it. */
export const PublicJwk = v.object({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: v.pipe(v.string(), v.length(43)),
  y: v.pipe(v.string(), v.length(43)),
});
export type PublicJwk = v.InferOutput<typeof PublicJwk>;
