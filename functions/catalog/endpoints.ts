import { answerSmoke } from './answer-smoke.ts';
import { deprecateVersion } from './deprecate-version.ts';
import { getApp } from './get-app.ts';
import { getEntitlement } from './get-entitlement.ts';
import { getOrgEntitlement } from './get-org-entitlement.ts';
import { getPromotionPolicy } from './get-promotion-policy.ts';
import { getPromotion } from './get-promotion.ts';
import { getVersion } from './get-version.ts';
import { listApps } from './list-apps.ts';
import { listEntitlements } from './list-entitlements.ts';
import { listOrgEntitlements } from './list-org-entitlements.ts';
import { listProjectApps } from './list-project-apps.ts';
import { listVersions } from './list-versions.ts';
import { promoteVersion } from './promote-version.ts';
import { publishVersion } from './publish-version.ts';
import { putEntitlement } from './put-entitlement.ts';
import { putOrgEntitlement } from './put-org-entitlement.ts';
import { putPromotionPolicy } from './put-promotion-policy.ts';
import { retireVersion } from './retire-version.ts';
import { rollBackVersion } from './roll-back-version.ts';

/** Every handler of the domain, by the name its routes call it. */
export const catalogEndpoints = {
  getApp,
  getEntitlement,
  getOrgEntitlement,
  listApps,
  listEntitlements,
  listOrgEntitlements,
  listProjectApps,
  putEntitlement,
  putOrgEntitlement,
  getVersion,
  listVersions,
  answerSmoke,
  deprecateVersion,
  getPromotion,
  getPromotionPolicy,
  promoteVersion,
  publishVersion,
  putPromotionPolicy,
  retireVersion,
  rollBackVersion,
};
