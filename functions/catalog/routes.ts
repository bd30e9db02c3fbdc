import type { Table } from '../platform/route.ts';

export const catalogRoutes = {
  'GET /api/v1/apps/catalog': ['listApps', 'signed_in'],
  'GET /api/v1/apps/catalog/{app_slug}': ['getApp', 'signed_in'],
  'GET /api/v1/apps/catalog/{app_slug}/versions': ['listVersions', 'signed_in'],
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}': ['getVersion', 'signed_in'],
  'GET /api/v1/projects/{project_id}/apps/catalog': ['listProjectApps', 'apps.catalog.read'],

  'GET /api/v1/projects/{project_id}/apps/entitlements': ['listEntitlements', 'apps.entitlement.read'],
  'GET /api/v1/projects/{project_id}/apps/entitlements/{app_slug}': [
    'getEntitlement',
    'apps.entitlement.read',
  ],
  'PUT /api/v1/projects/{project_id}/apps/entitlements/{app_slug}': [
    'putEntitlement',
    'apps.entitlement.write',
  ],
  'GET /api/v1/orgs/{org_id}/apps/entitlements': ['listOrgEntitlements', 'apps.entitlement.read'],
  'GET /api/v1/orgs/{org_id}/apps/entitlements/{app_slug}': ['getOrgEntitlement', 'apps.entitlement.read'],
  'PUT /api/v1/orgs/{org_id}/apps/entitlements/{app_slug}': ['putOrgEntitlement', 'apps.entitlement.write'],

  'GET /api/v1/admin/apps/promotion-policy': ['getPromotionPolicy', 'apps.catalog.publish'],
  'PUT /api/v1/admin/apps/promotion-policy': ['putPromotionPolicy', 'apps.catalog.publish'],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/promote': [
    'promoteVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/publish': [
    'publishVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/rollback': [
    'rollBackVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/deprecate': [
    'deprecateVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/retire': [
    'retireVersion',
    'apps.catalog.publish',
  ],
  'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/smoke': [
    'answerSmoke',
    'apps.catalog.publish',
  ],
  'GET /api/v1/apps/catalog/{app_slug}/versions/{version}/promotion': ['getPromotion', 'signed_in'],
} as const satisfies Table;
