import * as v from 'valibot';
import { requireThat, type Write } from '../platform/data/commit.ts';
import { countIn } from '../platform/data/counters.ts';
import { readItems, readItemsAtOnce } from '../platform/data/rows.ts';
import type { AppSlug } from '../platform/name.ts';
import type { VersionNumber } from '../platform/version-number.ts';
import { promotionKey } from '../promotion/keys.ts';
import { parsePromotion } from '../promotion/keep-promotion.ts';
import { App } from './app.ts';
import { artifactKey } from './artifact-id.ts';
import type { Release } from './decide-move.ts';
import { appKey, versionCounterKey, versionKey } from './keys.ts';
import { refuse } from './problems.ts';
import { ArtifactState, boundIdOf, describeUnready, type Rank, SUFFICIENT } from './readiness.ts';
import { Version } from './version.ts';
import { subjectOfPromotion } from './version-promotion.ts';

type FoundRelease = Partial<Pick<Release, 'app' | 'version'>> & Omit<Release, 'app' | 'version'>;

interface Named {
  app_slug: AppSlug;
  version: VersionNumber;
}

/** The version a path names, with its app and its last promotion, by one request, or the refusal. */
export async function findRelease(named: Named): Promise<Release> {
  const { app, version, ...at } = await findAnyRelease(named);
  if (!app) throw refuse('app.unknown');
  if (!version) throw refuse('version.unknown');
  return { app, version, ...at };
}

/** The same, as far as it is there. */
export async function findAnyRelease({ app_slug, version }: Named): Promise<FoundRelease> {
  const [app, ...rows] = await readItems([appKey(app_slug), ...keysOf(app_slug, version)]);
  return { app: v.parse(v.optional(App), app), ...parseRelease(rows) };
}

/** A version and its promotion at one moment: neither tells of a step the other has not made. */
export async function findReleaseAtOnce({ app_slug, version }: Named): Promise<Omit<FoundRelease, 'app'>> {
  return parseRelease(await readItemsAtOnce(keysOf(app_slug, version)));
}

const keysOf = (slug: AppSlug, version: VersionNumber) => [
  versionKey(slug, version),
  promotionKey(subjectOfPromotion(slug, version)),
  versionCounterKey(slug, version),
];

const parseRelease = ([version, promotion, counter]: unknown[]) => ({
  version: v.parse(v.optional(Version), version),
  promotion: parsePromotion(promotion),
  instance_count: countIn(counter),
});

/** What a version's move depends on: its artifacts as they are, and another version of the app. */
export async function findArtifactsOf(
  version: Version,
  other: VersionNumber | undefined,
): Promise<{ found: (ArtifactState | undefined)[]; other?: Version }> {
  const { app_slug, artifacts } = version;
  const ids = artifacts.map((artifact) => boundIdOf(version, artifact));
  const keys = ids.flatMap((id) => (id === undefined ? [] : [artifactKey(id)]));
  const rows = await readItems(other === undefined ? keys : [...keys, versionKey(app_slug, other)]);
  const found = new Map(rows.map((row) => [row?.['id'], row]));
  return {
    found: ids.map((id) => v.parse(v.optional(ArtifactState), id && found.get(id))),
    other: v.parse(v.optional(Version), rows[keys.length]),
  };
}

/** Checks the artifacts in the same transaction: none may be withdrawn while the version moves on. */
export function requireArtifacts(version: Version, to: Rank): Write[] {
  return version.artifacts.flatMap((artifact) => {
    const id = boundIdOf(version, artifact);
    if (id === undefined) return [];
    const states = SUFFICIENT[to].map((state, index) => [`:state${index}`, state]);
    return [
      requireThat(
        artifactKey(id),
        {
          condition: `app_slug = :app AND trust_state = :verified AND lifecycle_state IN (${states.map(([name]) => name).join(', ')})`,
          values: { ':app': version.app_slug, ':verified': 'verified', ...Object.fromEntries(states) },
        },
        refuse('version.artifacts_unready', { detail: describeUnready(artifact, to) }),
      ),
    ];
  });
}
