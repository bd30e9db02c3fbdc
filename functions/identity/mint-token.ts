import * as v from 'valibot';
import { command } from '../platform/http/endpoint.ts';
import { environment } from '../platform/environment.ts';
import { ServiceAccountId } from '../platform/ids.ts';
import { accountClaimant } from './claimant.ts';
import { issueToken, type Proof } from './issue-token.ts';
import { proveByAssertion } from './prove-claimant.ts';
import { isSameKey, publicHalfOf } from './service-account-key-pair.ts';
import { findAnyServiceAccount } from './service-account-store.ts';
import { readTtl, TOKEN_PATHS, TokenReply, TokenRequest } from './token.ts';
import { refuse } from './problems.ts';

/** RFC 9745: since when a private key should not be sent any more, 1 November 2026. */
const DEPRECATED_AT_SECONDS = Date.UTC(2026, 10, 1) / 1000;

type TokenRequest = v.InferOutput<typeof TokenRequest>;

export const mintToken = command(
  {
    summary: 'Get a short-lived token for a service account',
    action: 'identity.token.issue',
    body: TokenRequest,
    reply: TokenReply,
    refusals: ['auth.assertion_refused'],
    idempotency: 'none',
    form: true,
    lenient: 'private_key_pem',
  },
  async (ctx, { body }) => {
    const now = ctx.now();
    const proof =
      'assertion' in body
        ? await proveByAssertion(body.assertion, TOKEN_PATHS, (id) => findClaimant(id, now), now)
        : await proveByPrivateKey(body, now);
    if (!proof) throw refuse('auth.assertion_refused');
    const change = await issueToken(ctx, proof, readTtl(environment('TOKEN_TTL_SECONDS')));
    return { ...change, headers: proof.method === 'private_key' ? deprecation() : {} };
  },
);

async function findClaimant(id: string, now: Date) {
  const account = await findAnyServiceAccount(id);
  return account && accountClaimant(account, now);
}

async function proveByPrivateKey(
  { service_account_id, key_id, private_key_pem }: Extract<TokenRequest, { key_id: string }>,
  now: Date,
): Promise<Proof | undefined> {
  const shown = publicHalfOf(private_key_pem);
  const claimant =
    shown && v.is(ServiceAccountId, service_account_id)
      ? await findClaimant(service_account_id, now)
      : undefined;
  const key = claimant?.findKey(key_id);
  if (!shown || !claimant || !key || !isSameKey(shown, key)) return undefined;
  return { claimant, keyId: key_id, method: 'private_key', writes: [] };
}

const deprecation = (): Record<string, string> => ({
  deprecation: `@${DEPRECATED_AT_SECONDS}`,
  link: `<${environment('TOKEN_ISSUER')}/docs>; rel="deprecation"; type="text/html"`,
});
