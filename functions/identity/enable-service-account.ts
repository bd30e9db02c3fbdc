import { enableAccount, ServiceAccountEnabled } from './service-account.ts';
import { switchServiceAccount } from './switch-service-account.ts';

export const enableServiceAccount = switchServiceAccount({
  summary: 'Enable a service account',
  action: 'identity.service_account.enable',
  decide: enableAccount,
  tell: ServiceAccountEnabled,
});
