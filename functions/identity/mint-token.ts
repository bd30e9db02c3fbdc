import * as v from 'valibot';
import type { Write } from '../platform/data/commit.ts';
import { command } from '../platform/http/endpoint.ts';
import { environment } from '../platform/environment.ts';
import { recallSigningState } from '../platform/auth/token-keys.ts';
import { CLOCK_SKEW_SECONDS } from '../platform/auth/token-shape.ts';
import { claimantOf, proveAssertion } from './assertion.ts';
import { type AccountKeyId, ServiceAccountId } from '../platform/ids.ts';
import { isSameKey, publicHalfOf } from './service-account-key-pair.ts';
import { findAnyServiceAccount, spendAssertion } from './service-account-store.ts';
import { findWorkingKey, type ServiceAccount, subjectOf } from './service-account.ts';
import { signToken } from './sign-token.ts';
import { signingKeyId } from './signing-key.ts';
import { platformKeys } from './signing-keys.ts';
import { publishKeys } from './signing-store.ts';
import { planToken, readTtl, TOKEN_PATHS, TokenReply, TokenRequest } from './token.ts';
import { refuse } from './problems.ts';

/** RFC 9745: since when a private key should not be sent any more, 1 November 2026. */
const DEPRECATED_AT_SECONDS = Date.UTC(2026, 10, 1) / 1000;

type TokenRequest = v.InferOutput<typeof TokenRequest>;

/** Who asks, and how they showed it. */
interface Proof {
  account: ServiceAccount;
  keyId: AccountKeyId;
  method: 'assertion' | 'private_key';
  writes: Write[];
  headers: Record<string, string>;
}

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
      'assertion' in body ? await proveByAssertion(body, now) : await proveByPrivateKey(body, now);
    if (!proof) throw refuse('auth.assertion_refused');
    const { account, keyId, method, writes, headers } = proof;
    const keys = await platformKeys();
    const kids = keys.map((key) => key.kid);
    const state = await recallSigningState(ctx.now);
    const kid = signingKeyId(kids, state, now);
    const key = keys.find((each) => each.kid === kid);
    if (!key) throw new Error('The active signing key is not among those configured; rotate to one that is.');
    const ttlSeconds = readTtl(environment('TOKEN_TTL_SECONDS'));
    const token = planToken(
      account,
      { issuer: environment('TOKEN_ISSUER'), kid, jti: ctx.newId(), ttlSeconds },
      now,
    );
    return {
      actor: { kind: 'service_account', id: account.id },
      place: { org_id: account.org_id, project_id: account.project_id },
      subject: subjectOf(account),
      after: { key_id: keyId, method, jti: token.claims.jti, expires_at: token.claims.exp },
      writes: [...writes, ...publishKeys(keys, state)],
      headers,
      reply: { token_type: 'Bearer', expires_in: ttlSeconds },
      secrets: { access_token: await signToken(token, key) },
    };
  },
);

async function proveByAssertion(
  { assertion }: Extract<TokenRequest, { assertion: string }>,
  now: Date,
): Promise<Proof | undefined> {
  const claimant = claimantOf(assertion);
  const account = claimant && (await findAnyServiceAccount(claimant));
  const proven = account && (await proveAssertion(assertion, account, audiences(), now));
  if (!proven) return undefined;
  const { keyId, jti, expiresAtSeconds } = proven;
  const spent = spendAssertion(account.id, jti, expiresAtSeconds + 2 * CLOCK_SKEW_SECONDS);
  return { account, keyId, method: 'assertion', writes: [spent], headers: {} };
}

async function proveByPrivateKey(
  { service_account_id, key_id, private_key_pem }: Extract<TokenRequest, { key_id: string }>,
  now: Date,
): Promise<Proof | undefined> {
  const shown = publicHalfOf(private_key_pem);
  const account =
    shown && v.is(ServiceAccountId, service_account_id) && (await findAnyServiceAccount(service_account_id));
  const key = account && findWorkingKey(account, key_id, now);
  if (!key || !isSameKey(shown, key.public_key_jwk)) return undefined;
  const headers = {
    deprecation: `@${DEPRECATED_AT_SECONDS}`,
    link: `<${environment('TOKEN_ISSUER')}/docs>; rel="deprecation"; type="text/html"`,
  };
  return { account, keyId: key_id, method: 'private_key', writes: [], headers };
}

/** Ourselves, or the address the assertion is sent to. */
function audiences(): string[] {
  const issuer = environment('TOKEN_ISSUER');
  return [issuer, ...TOKEN_PATHS.map((path) => issuer + path)];
}
