import { isPublisher } from './app.ts';
import { findReleaseAtOnce } from './keep-release.ts';
import { refuse } from './problems.ts';
import { versionKind } from './version-kind.ts';
import { VersionPromotionView } from './version-promotion.ts';
import { pathOfVersion, VersionParams } from './version.ts';
import { decideByGrants } from '../platform/auth/caller.ts';
import { query } from '../platform/http/endpoint.ts';
import { judge } from '../platform/permissions.ts';
import { viewPromotion } from '../promotion/promotion-view.ts';

export const getPromotion = query(
  {
    summary: 'Get the promotion of a version: its progress and what it is waiting for',
    params: VersionParams,
    reply: VersionPromotionView,
    refusals: ['promotion.unknown'],
  },
  async (ctx, { params }) => {
    const { version, promotion, instance_count } = await findReleaseAtOnce(params);
    return decideByGrants(ctx, (grants) => {
      // Other callers must not learn whether the version exists.
      if (!version || !promotion || !isPublisher(grants, version)) throw refuse('promotion.unknown');
      const ofPlatform = judge(grants, 'apps.catalog.publish', {}) === 'allowed';
      return viewPromotion(
        promotion,
        { status: version.status, instance_count, kind: versionKind, path: pathOfVersion(version) },
        ofPlatform,
      );
    });
  },
);
