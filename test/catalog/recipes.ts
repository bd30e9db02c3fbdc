import type { Command } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { entitlementCommands, entitlementReads } from './recipes-entitlements.ts';
import { promotionCommands, promotionReads } from './recipes-promotion.ts';

export const catalogCommands: Command[] = [...entitlementCommands, ...promotionCommands];

/** A call of every route that only reads, by somebody with roles. */
export const catalogReads = {
  'GET /api/v1/apps/catalog/{app_slug}': async (scene) => ({
    params: { app_slug: (await scene.app()).slug },
    token: (await scene.person()).token,
  }),
  ...entitlementReads,
  ...promotionReads,
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
