import { activeVersion, placeOfApp } from './app.ts';
import { judgeCanary } from './judge-canary.ts';
import {
  decideMove,
  findArtifactsOf,
  findRelease,
  findReleaseAndPolicy,
  type Release,
  requireArtifacts,
  requireStatus,
} from './keep-release.ts';
import { refuse } from './problems.ts';
import { type Rank, requireBound, requireReady } from './readiness.ts';
import { requireUnused, type VersionMove } from './transition.ts';
import {
  namesOfVersion,
  subjectOfPromotion,
  VersionPromotionFailed,
  VersionPromotionRequested,
  VersionSubject,
} from './version-promotion.ts';
import { pathOfVersion, type Version } from './version.ts';
import type { Decision } from '../platform/data/change.ts';
import { Conflict, type Write } from '../platform/data/commit.ts';
import type { AppSlug } from '../platform/name.ts';
import type { VersionNumber } from '../platform/version-number.ts';
import type { Kind, Promotable, Terms } from '../promotion/kind.ts';
import { firstRankOf, nextStepFrom } from '../promotion/promotion-plan.ts';
import { isTried, type Promotion, type Target } from '../promotion/promotion.ts';
import type { PromotionPolicy } from '../promotion/promotion-policy.ts';
import type { Status } from '../promotion/status.ts';

/** Versions, as promotions know them. */
export const versionKind: Kind<VersionSubject> = {
  name: 'version',
  audited: 'catalog.version',
  subject: VersionSubject,
  find: findPromotableVersion,
  names: namesOfVersion,
  requested: VersionPromotionRequested,
  failed: VersionPromotionFailed,
  wrongStatus: (detail) => refuse('version.wrong_status', { detail }),
  termsOf,
  gate: 'checking',
  isGated: (from) => from === 'draft',
  // Only a draft passes the gate, and after it comes the smoke run, unless that has passed by itself.
  afterGate: ({ from, smoke }) =>
    from === 'draft' && smoke?.gate !== 'automatic' ? 'awaiting_smoke' : nextStepFrom(from),
  requireGates,
  judge: judgeCanary,
  view: ({ app_slug, version }, status) => ({ app_slug, version, version_status: status }),
};

function termsOf({ smoke, versions, grace_seconds }: PromotionPolicy, from: Status, target: Target): Terms {
  const { canary: audience, ...judged } = versions;
  return {
    ...(from === 'draft' && { smoke }),
    ...(target !== 'staged' && { canary: { ...audience, project_ids: [], ...judged } }),
    ...(target === 'active' && { grace_seconds }),
  };
}

interface Named {
  app_slug: AppSlug;
  version: VersionNumber;
}

export async function findPromotableVersion(named: Named): Promise<Promotable> {
  return promotableVersion(await findRelease(named));
}

/** The same with the policy in force, by one request. */
export async function findVersionAndPolicy(
  named: Named,
): Promise<{ at: Promotable; policy: PromotionPolicy }> {
  const { release, policy } = await findReleaseAndPolicy(named);
  return { at: promotableVersion(release), policy };
}

export function promotableVersion(release: Release): Promotable {
  const { app, version, promotion, instance_count } = release;
  const { status, retire_after } = version;
  return {
    kind: versionKind,
    subject: subjectOfPromotion(app.slug, version.version),
    status,
    promotion,
    retire_after,
    instance_count,
    place: placeOfApp(app),
    path: pathOfVersion(version),
    hold: (planned) => [requireStatus(version), ...holdArtifacts(release, planned)],
    move: (to, after, now) => decideTransition(release, to, after, now),
  };
}

/** The artifacts are checked by a write condition, so they need not be read. */
function holdArtifacts({ version, instance_count }: Release, planned: Promotion): Write[] {
  const rank = firstRankOf(planned);
  if (!rank) {
    requireUnused(instance_count);
    return [];
  }
  requireBound(version);
  return requireArtifacts(version, rank);
}

/** No gate is skipped, however the workflow came to ask. */
function requireGates({ gates }: Promotion, to: Target): void {
  if (to !== 'staged') return;
  if (gates.lint?.verdict !== 'passed')
    throw refuse('manifest.invalid', { detail: 'The manifest did not pass validation.' });
  if (gates.smoke?.verdict !== 'passed')
    throw refuse('promotion.not_waiting', { detail: 'The smoke run has not passed.' });
}

async function decideTransition(
  release: Release,
  to: Target,
  after: Promotion,
  now: Date,
): Promise<Decision> {
  if (to === 'retired') return decideMove(release, { to }, after, now).decision;
  const { app, version } = release;
  const active = to === 'active' ? activeVersion(app) : undefined;
  const { found, other } = await findArtifactsOf(version, active);
  if (active !== undefined && other?.status !== 'active')
    throw new Conflict('The active version changed after the app was read.');
  requireReady(version, found, to);
  const { decision } = decideMove(release, moveTo(to, after, other), after, now);
  return { ...decision, writes: [...decision.writes, ...requireArtifacts(version, to)] };
}

function moveTo(
  to: Rank,
  { canary, grace_seconds }: Promotion,
  supersedes: Version | undefined,
): VersionMove {
  if (to === 'staged') return { to };
  if (to === 'active') return { to, supersedes, graceSeconds: grace_seconds };
  const { percent, project_ids } = isTried(canary) ? canary : { percent: 0, project_ids: [] };
  return { to, audience: { percent, project_ids } };
}
