import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { decideMove, findAnyRelease, findRelease } from '../../functions/catalog/keep-release.ts';
import { artifactKey } from '../../functions/catalog/readiness.ts';
import type { Release, VersionMove } from '../../functions/catalog/transition.ts';
import { promotableVersion } from '../../functions/catalog/version-kind.ts';
import type { Version } from '../../functions/catalog/version.ts';
import { planProject, type Project } from '../../functions/identity/project.ts';
import { digestManifest } from '../../functions/manifests/digest-manifest.ts';
import { saveRegistration } from '../../functions/manifests/registration-store.ts';
import { planRegistration } from '../../functions/manifests/registration.ts';
import { createContext } from '../../functions/platform/context.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { putItem } from '../../functions/platform/data/table.ts';
import { newId } from '../../functions/platform/ids.ts';
import { savePromotion } from '../../functions/promotion/keep-promotion.ts';
import { DEFAULT_POLICY } from '../../functions/promotion/promotion-policy.ts';
import { planPromotion } from '../../functions/promotion/promotion-plan.ts';
import { advance, awaitSmoke } from '../../functions/promotion/promotion-steps.ts';
import type { Promotion } from '../../functions/promotion/promotion.ts';
import type { Status } from '../../functions/promotion/status.ts';
import { repositoryOf } from '../../functions/storage/repository.ts';
import { planArtifact } from '../artifacts/planned-artifact.ts';
import { canonical, DIGEST, sampleManifest } from '../manifests/sample-manifest.ts';

/** Artifacts of the platform's own apps are some project's too. */
const NOBODY = planProject(newId(), newId(), { name: 'Nobody', slug: 'nobody' }, new Date(0));
const SOMEBODY = { kind: 'user', id: 'somebody' } as const;

interface Wanted {
  slug?: string;
  owner?: Project;
  version?: string;
  status?: Exclude<Status, 'retired'>;
  /** Of its one artifact. */
  digest?: string;
  /** As that is registered; nothing where it is not. */
  artifact?: Partial<Artifact> | null;
  /** Once it is deprecated. */
  graceSeconds?: number;
}

/** A version of an app in the status wanted, made with the domain's own rules and writes, but not by calls. */
export async function releaseVersion(wanted: Wanted = {}): Promise<Version> {
  const { owner, version: number = '1.0.0', status = 'draft', graceSeconds = 0 } = wanted;
  const slug = wanted.slug ?? `app-${newId()}`.slice(0, 40);
  const repository = repositoryOf(owner?.slug ?? NOBODY.slug, slug);
  const { digest = DIGEST } = wanted;
  const artifacts = [{ name: 'runtime', artifact_kind: 'oci', repository, digest }];
  const manifest = canonical(sampleManifest({ slug }, { version: number, artifacts }));
  const standing = await findAnyRelease({ app_slug: manifest.app.slug, version: manifest.version.version });
  const by = {
    actor: 'user:somebody',
    ...(owner && { owner: { org_id: owner.org_id, project_id: owner.id } }),
  };
  const planned = planRegistration(manifest, digestManifest(manifest), standing, by, new Date());
  await commit(saveRegistration(standing, planned, manifest));
  if (wanted.artifact !== null) await registerArtifacts(owner ?? NOBODY, planned.version, wanted.artifact);

  const path: VersionMove[] = [
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

/** A draft that was registered by a call, staged without its gates. */
export async function stageVersion(app_slug: string, version: string): Promise<void> {
  await make(await findRelease({ app_slug, version }), { to: 'staged' });
}

async function make(release: Release, move: VersionMove): Promise<Release> {
  const now = new Date();
  const promotion = promotionFor(release, move, now);
  await commit(decideMove(release, move, promotion, now).decision.writes);
  return findRelease(release.version);
}

/** What is in canary, or came through one, has a promotion that tells of it. */
function promotionFor(release: Release, { to }: VersionMove, now: Date): Promotion | undefined {
  if (to !== 'canary' && to !== 'active') return undefined;
  const planned = planPromotion(promotableVersion(release), { target: to }, DEFAULT_POLICY, requestAt(now));
  return advance(planned, to, now);
}

function requestAt(now: Date) {
  const { correlationId, traceparent } = createContext(newId());
  const operationId = newId();
  return { operationId, correlationId, traceparent, actor: SOMEBODY, reason: 'To be tried.', now };
}

/** Its artifacts, in the state wanted. */
async function registerArtifacts(
  project: Project,
  { app_slug, version, artifacts }: Version,
  state: Partial<Artifact> = {},
): Promise<void> {
  for (const { name, variant, repository, digest } of artifacts) {
    const artifact = planArtifact(
      project,
      {
        app_slug,
        app_version: version,
        artifact_name: name,
        variant,
        repository,
        digest,
        lifecycle_state: 'active',
        trust_state: 'verified',
        ...state,
      },
      new Date(),
    );
    await putItem({ ...artifactKey(artifact.id), ...artifact });
  }
}

/** A version whose promotion waits for the smoke run. */
export async function releaseAwaitingSmoke(wanted: Wanted = {}): Promise<Version> {
  const release = await findRelease(await releaseVersion(wanted));
  const now = new Date();
  const planned = planPromotion(
    promotableVersion(release),
    { target: 'active' },
    DEFAULT_POLICY,
    requestAt(now),
  );
  await commit([savePromotion(undefined, awaitSmoke(planned, 'token', now))]);
  return release.version;
}
