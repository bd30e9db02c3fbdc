import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { findServiceAccount, saveServiceAccount } from './service-account-store.ts';
import {
  enableAccount,
  ServiceAccountEnabled,
  ServiceAccountParams,
  ServiceAccountView,
  subjectOf,
  viewServiceAccount,
} from './service-account.ts';
import { requireVersion } from '../platform/http/precondition.ts';

export const enableServiceAccount = command(
  {
    summary: 'Enable a service account',
    action: 'identity.service_account.enable',
    params: ServiceAccountParams,
    reply: ServiceAccountView,
    refusals: ['service_account.unknown', 'precondition.failed'],
  },
  async (ctx, { params }) => {
    const account = await findServiceAccount(projectOf(ctx).id, params.service_account_id);
    const stale = requireVersion(account, ctx.ifMatch);
    const enabled = enableAccount(account);
    return {
      subject: subjectOf(account),
      before: viewServiceAccount(account),
      after: viewServiceAccount(enabled),
      writes: [saveServiceAccount(account, enabled, stale)],
      events: [ServiceAccountEnabled(enabled)],
      reply: viewServiceAccount(enabled),
    };
  },
);
