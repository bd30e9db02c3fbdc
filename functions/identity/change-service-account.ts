import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { findServiceAccount, saveServiceAccount } from './service-account-store.ts';
import {
  changeAccount,
  ChangeServiceAccount,
  ServiceAccountChanged,
  ServiceAccountParams,
  ServiceAccountView,
  subjectOf,
  viewServiceAccount,
} from './service-account.ts';
import { requireVersion } from '../platform/http/precondition.ts';

export const changeServiceAccount = command(
  {
    summary: 'Change the name, description or role of a service account',
    action: 'identity.service_account.change',
    params: ServiceAccountParams,
    body: ChangeServiceAccount,
    reply: ServiceAccountView,
    refusals: ['service_account.unknown', 'precondition.failed'],
  },
  async (ctx, { params, body }) => {
    const account = await findServiceAccount(projectOf(ctx).id, params.service_account_id);
    const stale = requireVersion(account, ctx.ifMatch);
    const changed = changeAccount(account, body);
    return {
      subject: subjectOf(account),
      before: viewServiceAccount(account),
      after: viewServiceAccount(changed),
      writes: [saveServiceAccount(account, changed, stale)],
      events: [ServiceAccountChanged(changed)],
      reply: viewServiceAccount(changed),
    };
  },
);
