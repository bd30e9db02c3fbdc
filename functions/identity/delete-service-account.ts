import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { findServiceAccount, removeServiceAccount } from './service-account-store.ts';
import {
  ServiceAccountDeleted,
  ServiceAccountParams,
  subjectOf,
  viewServiceAccount,
} from './service-account.ts';
import { requireVersion } from '../platform/http/precondition.ts';

export const deleteServiceAccount = command(
  {
    summary: 'Delete a service account; its tokens stop working within 5 seconds',
    action: 'identity.service_account.delete',
    params: ServiceAccountParams,
    status: 204,
    refusals: ['service_account.unknown', 'precondition.failed'],
  },
  async (ctx, { params }) => {
    const account = await findServiceAccount(projectOf(ctx).id, params.service_account_id);
    const stale = requireVersion(account, ctx.ifMatch);
    return {
      subject: subjectOf(account),
      before: viewServiceAccount(account),
      writes: removeServiceAccount(account, stale),
      events: [ServiceAccountDeleted(account)],
      reply: {},
    };
  },
);
