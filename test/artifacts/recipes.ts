import type { Command } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { garbageReads } from '../retention/recipes-garbage.ts';
import { lifecycleCommands, lifecycleReads } from './recipes-lifecycle.ts';
import { publishCommands, publishReads } from '../publishing/recipes-publish.ts';
import { trustCommands, trustReads } from './recipes-trust.ts';

export const artifactsCommands: Command[] = [...publishCommands, ...lifecycleCommands, ...trustCommands];

/** A call of every route that only reads, by somebody with roles. */
export const artifactsReads = {
  'GET /api/v1/apps/registry': async (scene) => ({ token: (await scene.person()).token }),
  ...trustReads,
  ...publishReads,
  ...garbageReads,
  ...lifecycleReads,
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
