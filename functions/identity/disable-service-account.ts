import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { findServiceAccount, saveServiceAccount } from './service-account-store.ts';
import {
  disableAccount,
  ServiceAccountDisabled,
  ServiceAccountParams,
  ServiceAccountView,
  subjectOf,
  viewServiceAccount,
} from './service-account.ts';
import { requireVersion } from '../platform/http/precondition.ts';

export const disableServiceAccount = command(
  {
    summary: 'Disable a service account; its tokens stop working within 5 seconds',
    action: 'identity.service_account.disable',
    params: ServiceAccountParams,
    reply: ServiceAccountView,
    refusals: ['service_account.unknown', 'precondition.failed'],
  },
  async (ctx, { params }) => {
    const account = await findServiceAccount(projectOf(ctx).id, params.service_account_id);
    const stale = requireVersion(account, ctx.ifMatch);
    const disabled = disableAccount(account);
    return {
      subject: subjectOf(account),
      before: viewServiceAccount(account),
      after: viewServiceAccount(disabled),
      writes: [saveServiceAccount(account, disabled, stale)],
      events: [ServiceAccountDisabled(disabled)],
      reply: viewServiceAccount(disabled),
    };
  },
);
