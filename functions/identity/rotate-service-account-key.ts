import { command } from '../platform/http/endpoint.ts';
import { requireCredentials } from './giving.ts';
import { makeKeyPair } from './service-account-key-pair.ts';
import { findAccountAndGiver, saveServiceAccount } from './service-account-store.ts';
import {
  rotateKey,
  RotateServiceAccountKey,
  ServiceAccountKeyRotated,
  ServiceAccountParams,
  ServiceAccountWithKey,
  subjectOf,
  viewServiceAccount,
} from './service-account.ts';
import { requireVersion } from '../platform/http/precondition.ts';

export const rotateServiceAccountKey = command(
  {
    summary: 'Give a service account a new key; earlier keys keep working during the overlap',
    action: 'identity.service_account.rotate_key',
    params: ServiceAccountParams,
    body: RotateServiceAccountKey,
    reply: ServiceAccountWithKey,
    refusals: [
      'service_account.unknown',
      'service_account.own',
      'permission.not_held',
      'service_account.too_many_keys',
      'precondition.failed',
    ],
    // A second rotation would lose the key the first one told.
    idempotency: 'required',
  },
  async (ctx, { params, body }) => {
    const now = ctx.now();
    const { account, giver } = await findAccountAndGiver(ctx, params.service_account_id);
    const stale = requireVersion(account, ctx.ifMatch);
    requireCredentials(giver, account);
    const { publicJwk, privateKeyPem } = makeKeyPair();
    const key = { key_id: ctx.newId(), public_key_jwk: publicJwk, created_at: now.toISOString() };
    const rotated = rotateKey(account, key, body.overlap_seconds, now);
    const view = viewServiceAccount(rotated);
    return {
      subject: subjectOf(account),
      before: viewServiceAccount(account),
      after: view,
      writes: [saveServiceAccount(account, rotated, stale)],
      events: [ServiceAccountKeyRotated(rotated)],
      reply: { ...view, key_id: key.key_id },
      secrets: { private_key_pem: privateKeyPem },
    };
  },
);
