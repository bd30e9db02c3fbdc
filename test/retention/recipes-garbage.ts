import { encodeCursor } from '../../functions/platform/page.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { announce } from '../publishing/recipes-publish.ts';

export const garbageReads = {
  'GET /api/v1/admin/artifacts/garbage': async (scene) => {
    const { intent } = await announce(scene, (await scene.place()).project);
    // Right before its repository, so that others are not asked for.
    const cursor = encodeCursor(intent.repository.slice(0, -1)) ?? '';
    return { query: { limit: '1', cursor }, token: (await scene.platformAdmin()).token };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
