import type { Decision } from '../platform/data/change.ts';
import { Conflict } from '../platform/data/commit.ts';
import { activeVersion, placeOfApp } from './app.ts';
import { isTried } from '../promotion/canary-guard.ts';
import { decideMove, type Standing } from './decide-move.ts';
import { findRelease } from './find-release.ts';
import type { Promotable } from '../promotion/promotable.ts';
import type { Promotion, Target } from '../promotion/promotion.ts';
import { firstRankOf } from '../promotion/promotion-plan.ts';
import { findArtifactsOf, requireArtifacts, requireStatus } from '../promotion/promotion-store.ts';
import { type Rank, requireBound, requireReady } from './readiness.ts';
import { type Move, requireUnused } from './transition.ts';
import { pathOfVersion, type Version } from './version.ts';

/** What every command that begins a promotion of a version may refuse with. */
export const PROMOTION_REFUSALS = [
  'app.unknown',
  'version.unknown',
  'version.wrong_status',
  'promotion.in_progress',
] as const;

export async function findPromotableVersion(params: {
  app_slug: string;
  version: string;
}): Promise<Promotable> {
  return promotableVersion(await findRelease(params));
}

export function promotableVersion(standing: Standing): Promotable {
  const { app, version, promotion } = standing;
  const { status, retire_after, instance_count } = version;
  return {
    subject: { kind: 'version', app_slug: app.slug, version: version.version },
    status,
    promotion,
    retire_after,
    instance_count,
    place: placeOfApp(app),
    path: pathOfVersion(version),
    hold: (planned) => [requireStatus(version), ...holdArtifacts(version, planned)],
    move: (to, after, now) => decideTransition(standing, to, after, now),
  };
}

/** What holds of its artifacts is a condition only: they need not be read. */
function holdArtifacts(version: Version, planned: Promotion) {
  const rank = firstRankOf(planned);
  if (!rank) {
    requireUnused(version);
    return [];
  }
  requireBound(version);
  return requireArtifacts(version, rank);
}

async function decideTransition(
  standing: Standing,
  to: Target,
  after: Promotion,
  now: Date,
): Promise<Decision> {
  if (to === 'retired') return decideMove(standing, { to }, after, now).decision;
  const { app, version } = standing;
  const active = to === 'active' ? activeVersion(app) : undefined;
  const { found, other } = await findArtifactsOf(version, active);
  if (active !== undefined && other?.status !== 'active')
    throw new Conflict('Another version is active than the app said.');
  requireReady(version, found, to);
  const { decision } = decideMove(standing, moveTo(to, after, other), after, now);
  return { ...decision, writes: [...decision.writes, ...requireArtifacts(version, to)] };
}

function moveTo(to: Rank, { canary }: Promotion, supersedes: Version | undefined): Move {
  if (to === 'staged') return { to };
  if (to === 'active') return { to, supersedes };
  const { percent, project_ids } = isTried(canary) ? canary : { percent: 0, project_ids: [] };
  return { to, audience: { percent, project_ids } };
}
