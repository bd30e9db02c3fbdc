import { query } from '../platform/http/endpoint.ts';
import { judge } from '../platform/permissions.ts';
import { isPublisher } from './app.ts';
import { findPromotionAtOnce } from '../promotion/promotion-store.ts';
import { PromotionView, viewPromotion } from '../promotion/promotion-view.ts';
import { pathOfVersion, VersionParams } from './version.ts';
import { refuse } from './problems.ts';

export const getPromotion = query(
  {
    summary: 'Where the promotion of a version stands, and what it waits for',
    params: VersionParams,
    reply: PromotionView,
    refusals: ['promotion.unknown'],
  },
  async (ctx, { params }) => {
    const { version, promotion } = await findPromotionAtOnce(params.app_slug, params.version);
    // Whether there is such a version is nothing to anybody else.
    if (!version || !promotion || !isPublisher(ctx.grants, version)) throw refuse('promotion.unknown');
    const ofPlatform = judge(ctx.grants, 'apps.catalog.publish', {}) === 'allowed';
    return viewPromotion(promotion, { ...version, path: pathOfVersion(version) }, ofPlatform);
  },
);
