import { callerNow } from '../platform/auth/caller.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireGiveable } from './giving.ts';
import { makeKeyPair } from './service-account-key-pair.ts';
import { insertServiceAccount } from './service-account-store.ts';
import {
  CreateServiceAccount,
  DEFAULT_ABILITIES,
  planServiceAccount,
  readAbilities,
  ServiceAccountCreated,
  ServiceAccountWithKey,
  subjectOf,
  viewServiceAccount,
} from './service-account.ts';

export const createServiceAccount = command(
  {
    summary: 'Create a service account; its private key is returned only once',
    action: 'identity.service_account.create',
    body: CreateServiceAccount,
    reply: ServiceAccountWithKey,
    status: 201,
    refusals: ['project.archived', 'permission.not_held', 'service_account.slug_taken'],
  },
  async (ctx, { body }) => {
    const project = projectOf(ctx);
    const abilities = readAbilities(body) ?? DEFAULT_ABILITIES;
    const { grants } = await callerNow(ctx, []);
    const place = { org_id: project.org_id, project_id: project.id };
    requireGiveable({ actor: ctx.actor, grants, place }, abilities);
    const { publicJwk, privateKeyPem } = makeKeyPair();
    const key = { key_id: ctx.newId(), public_key_jwk: publicJwk, created_at: ctx.now().toISOString() };
    const account = planServiceAccount(body, abilities, project, ctx.newId(), key);
    const view = viewServiceAccount(account);
    return {
      subject: subjectOf(account),
      after: view,
      writes: insertServiceAccount(account),
      events: [ServiceAccountCreated(account)],
      reply: { ...view, key_id: key.key_id },
      secrets: { private_key_pem: privateKeyPem },
      location: `/api/v1/projects/${account.project_id}/service-accounts/${account.id}`,
    };
  },
);
