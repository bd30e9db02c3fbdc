import type { VersionStatus } from '../../functions/catalog/app.ts';
import { decideMove, type Standing } from '../../functions/catalog/decide-move.ts';
import { digestManifest } from '../../functions/manifests/digest-manifest.ts';
import { findRelease } from '../../functions/catalog/find-release.ts';
import { artifactKey } from '../../functions/catalog/keys.ts';
import { type Promotion } from '../../functions/catalog/promotion.ts';
import { planPromotion } from '../../functions/catalog/promotion-plan.ts';
import { advance, awaitSmoke } from '../../functions/catalog/promotion-steps.ts';
import { findPromotion, savePromotion } from '../../functions/catalog/promotion-store.ts';
import type { ArtifactState } from '../../functions/catalog/readiness.ts';
import { planRegistration } from '../../functions/manifests/registration.ts';
import { saveRegistration } from '../../functions/manifests/registration-store.ts';
import { requireManifest } from '../../functions/manifests/sent-manifest.ts';
import type { Move } from '../../functions/catalog/transition.ts';
import type { Version } from '../../functions/catalog/version.ts';
import type { Project } from '../../functions/identity/project.ts';
import { commit } from '../../functions/platform/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { putItem } from '../../functions/platform/table.ts';
import { sampleManifest } from '../manifests/sample-manifest.ts';

const SOMEBODY = { kind: 'user', id: 'somebody' } as const;

interface Wanted {
  slug?: string;
  owner?: Project;
  version?: string;
  status?: Exclude<VersionStatus, 'retired'>;
  /** As its one artifact is registered; nothing where it is not. */
  artifact?: Partial<ArtifactState> | null;
  /** Once it is deprecated. */
  graceSeconds?: number;
}

/** A version of an app in the status wanted, made with the domain's own rules and writes, but not by calls. */
export async function releaseVersion(wanted: Wanted = {}): Promise<Version> {
  const { slug, owner, version: number = '1.0.0', status = 'draft', graceSeconds = 0 } = wanted;
  const manifest = requireManifest(sampleManifest(slug === undefined ? {} : { slug }, { version: number }));
  const standing = await findPromotion(manifest.app.slug, manifest.version.version);
  const by = {
    actor: 'user:somebody',
    ...(owner && { owner: { org_id: owner.org_id, project_id: owner.id } }),
  };
  const planned = planRegistration(manifest, digestManifest(manifest), standing, by, new Date());
  await commit(saveRegistration(standing, planned, manifest));
  if (wanted.artifact !== null) await registerArtifact(planned.version, wanted.artifact);

  const path: Move[] = [
    { to: 'staged' },
    { to: 'canary', audience: { percent: 10, project_ids: [] } },
    { to: 'active' },
    { to: 'deprecated', graceSeconds },
  ];
  const there = path.findIndex(({ to }) => to === status);
  let release = await findRelease(planned.version);
  for (const move of path.slice(0, there + 1)) release = await make(release, move);
  return release.version;
}

async function make(release: Standing, move: Move): Promise<Standing> {
  const now = new Date();
  const promotion = promotionFor(release, move, now);
  await commit(decideMove(release, move, promotion, now).decision.writes);
  return findRelease(release.version);
}

/** What is in canary, or came through one, has a promotion that tells of it. */
function promotionFor({ version, promotion }: Standing, { to }: Move, now: Date): Promotion | undefined {
  if (to !== 'canary' && to !== 'active') return undefined;
  const planned = planPromotion(
    promotion,
    version,
    { target: to, reason: 'To be tried.' },
    {
      operationId: newId(),
      correlationId: newId(),
      actor: SOMEBODY,
      reason: 'To be tried.',
      now,
    },
  );
  return advance(planned, to, now);
}

/** Its artifact, as a later registration will write it. */
async function registerArtifact(
  { app_slug, version, artifacts }: Version,
  state: Partial<ArtifactState> = {},
): Promise<void> {
  for (const { name, variant, digest } of artifacts)
    await putItem({
      ...artifactKey(app_slug, version, name, variant),
      digest,
      lifecycle_state: 'active',
      trust_state: 'verified',
      ...state,
    });
}

/** A version whose promotion waits for the smoke run. */
export async function releaseAwaitingSmoke(wanted: Wanted = {}): Promise<Version> {
  const { version } = await findRelease(await releaseVersion(wanted));
  const now = new Date();
  const planned = planPromotion(
    undefined,
    version,
    { target: 'active', reason: 'To be tried.' },
    {
      operationId: newId(),
      correlationId: newId(),
      actor: SOMEBODY,
      reason: 'To be tried.',
      now,
    },
  );
  await commit([savePromotion(undefined, awaitSmoke(planned, 'token', now))]);
  return version;
}
