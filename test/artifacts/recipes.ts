import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';

/** A call of every route that only reads, by somebody with roles. */
export const artifactsReads = {
  'GET /api/v1/apps/registry': async (scene) => ({ token: (await scene.person()).token }),
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
