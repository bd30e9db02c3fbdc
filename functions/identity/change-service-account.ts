import { command } from '../platform/http/endpoint.ts';
import { requireGiveable, requireOther } from './giving.ts';
import { findAccountAndGiver, saveServiceAccount } from './service-account-store.ts';
import {
  changeAccount,
  ChangeServiceAccount,
  readAbilities,
  ServiceAccountChanged,
  ServiceAccountParams,
  ServiceAccountView,
  subjectOf,
  viewServiceAccount,
} from './service-account.ts';
import { requireVersion } from '../platform/http/precondition.ts';

export const changeServiceAccount = command(
  {
    summary: 'Change the name, description, role or permissions of a service account',
    action: 'identity.service_account.change',
    params: ServiceAccountParams,
    body: ChangeServiceAccount,
    reply: ServiceAccountView,
    refusals: [
      'service_account.unknown',
      'service_account.own',
      'permission.not_held',
      'precondition.failed',
    ],
  },
  async (ctx, { params, body }) => {
    const abilities = readAbilities(body);
    const { account, giver } = await findAccountAndGiver(ctx, params.service_account_id);
    const stale = requireVersion(account, ctx.ifMatch);
    requireOther(giver, account);
    if (abilities) requireGiveable(giver, abilities);
    const changed = changeAccount(account, body, abilities);
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
