import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { findServiceAccount } from './service-account-store.ts';
import { ServiceAccountParams, ServiceAccountView, viewServiceAccount } from './service-account.ts';

export const getServiceAccount = query(
  {
    summary: 'Get a service account',
    params: ServiceAccountParams,
    reply: ServiceAccountView,
    refusals: ['service_account.unknown'],
  },
  async (ctx, { params }) =>
    viewServiceAccount(await findServiceAccount(projectOf(ctx).id, params.service_account_id)),
);
