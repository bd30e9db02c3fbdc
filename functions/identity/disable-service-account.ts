import { disableAccount, ServiceAccountDisabled } from './service-account.ts';
import { switchServiceAccount } from './switch-service-account.ts';

export const disableServiceAccount = switchServiceAccount({
  summary: 'Disable a service account; its tokens stop working within 5 seconds',
  action: 'identity.service_account.disable',
  decide: disableAccount,
  tell: ServiceAccountDisabled,
});
