import { requireCredentials } from './giving.ts';
import { enableAccount, ServiceAccountEnabled } from './service-account.ts';
import { switchServiceAccount } from './switch-service-account.ts';

export const enableServiceAccount = switchServiceAccount({
  summary: 'Enable a service account',
  action: 'identity.service_account.enable',
  refusals: ['service_account.own', 'permission.not_held'],
  decide: (account, giver) => {
    requireCredentials(giver, account);
    return enableAccount(account);
  },
  tell: ServiceAccountEnabled,
});
