import type { Standing } from './decide-move.ts';
import { findPromotion } from '../promotion/promotion-store.ts';
import { refuse } from './problems.ts';

/** The version a path names, with its app and its last promotion, or the refusal. */
export async function findRelease(params: { app_slug: string; version: string }): Promise<Standing> {
  const { app, version, promotion } = await findPromotion(params.app_slug, params.version);
  if (!app) throw refuse('app.unknown');
  if (!version) throw refuse('version.unknown');
  return { app, version, promotion };
}
