// How apps and versions are read together, and what writes them: for the catalogue, and for the domains whose changes an
// app's row tells too.

import * as v from 'valibot';
import { App, APPS_MAX, placeOfApp } from './app.ts';
import { countedChange } from './catalog-changes.ts';
import { appKey, catalogHeadKey, manifestKey, versionCounterKey, versionKey } from './keys.ts';
import { refuse } from './problems.ts';
import {
  artifactKey,
  ArtifactState,
  boundIdOf,
  describeUnready,
  type Rank,
  SUFFICIENT,
} from './readiness.ts';
import {
  auditVersionMove,
  type Moved,
  moveVersion,
  type Release,
  type VersionMove,
  VersionMoved,
} from './transition.ts';
import { subjectOfPromotion } from './version-promotion.ts';
import { Version } from './version.ts';
import type { Decision } from '../platform/data/change.ts';
import { putNew, replace, requireThat, sameAs, update, type Write } from '../platform/data/commit.ts';
import { countIn, requireNone } from '../platform/data/counters.ts';
import { readItems, readItemsAtOnce } from '../platform/data/rows.ts';
import { readItem } from '../platform/data/table.ts';
import type { AppSlug } from '../platform/name.ts';
import type { VersionNumber } from '../platform/version-number.ts';
import { parsePromotion, savePromotion } from '../promotion/keep-promotion.ts';
import { promotionKey, promotionPolicyKey } from '../promotion/keys.ts';
import { parsePolicy } from '../promotion/keep-policy.ts';
import type { PromotionPolicy } from '../promotion/promotion-policy.ts';
import type { Promotion } from '../promotion/promotion.ts';

type FoundRelease = Partial<Pick<Release, 'app' | 'version'>> & Omit<Release, 'app' | 'version'>;

interface Named {
  app_slug: AppSlug;
  version: VersionNumber;
}

/** The version a path names, with its app and its last promotion, by one request, or the refusal. */
export async function findRelease(named: Named): Promise<Release> {
  return requireThere(await findAnyRelease(named));
}

/** The same with the policy that promotions follow, by one request too. */
export async function findReleaseAndPolicy({
  app_slug,
  version,
}: Named): Promise<{ release: Release; policy: PromotionPolicy }> {
  const [policy, ...rows] = await readItems([promotionPolicyKey(), ...keysWithApp(app_slug, version)]);
  return { release: requireThere(parseWithApp(rows)), policy: parsePolicy(policy) };
}

function requireThere({ app, version, ...at }: FoundRelease): Release {
  if (!app) throw refuse('app.unknown');
  if (!version) throw refuse('version.unknown');
  return { app, version, ...at };
}

/** The same, as far as it is there. */
export async function findAnyRelease({ app_slug, version }: Named): Promise<FoundRelease> {
  return parseWithApp(await readItems(keysWithApp(app_slug, version)));
}

const keysWithApp = (slug: AppSlug, version: VersionNumber) => [appKey(slug), ...keysOf(slug, version)];

const parseWithApp = ([app, ...rows]: unknown[]): FoundRelease => ({
  app: v.parse(v.optional(App), app),
  ...parseRelease(rows),
});

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

/** Replaces the app's row, or adds it, and counts the change, which is how whoever keeps the catalogue notices it. */
export function saveApp(before: App | undefined, after: App): Write[] {
  return [putApp(before, after), before ? countChange([after]) : countApp(after)];
}

/** The same for several that are there. */
export function saveApps(changes: { before: App; after: App }[]): Write[] {
  if (changes.length === 0) return [];
  return [
    ...changes.map(({ before, after }) => putApp(before, after)),
    countChange(changes.map(({ after }) => after)),
  ];
}

function putApp(before: App | undefined, after: App): Write {
  const row = { ...appKey(after.slug), ...after };
  return before ? replace(row, { revision: before.revision }) : putNew(row);
}

function countChange(apps: App[]): Write {
  const { set, names, values } = countedChange(apps);
  return update(catalogHeadKey(), { update: `SET ${set}`, names, values });
}

function countApp(app: App): Write {
  const { set, names, values } = countedChange([app]);
  return update(
    catalogHeadKey(),
    {
      update: `SET ${set} ADD app_count :one`,
      condition: 'attribute_not_exists(app_count) OR app_count < :most',
      names,
      values: { ...values, ':most': APPS_MAX },
    },
    refuse('app.too_many'),
  );
}

/** Puts the version's row in place of the one that was read: a change of its status, or of a draft. */
export function saveVersion(before: Version, after: Version): Write[] {
  const { app_slug, version } = after;
  const { status, manifest_digest } = before;
  return [
    replace({ ...versionKey(app_slug, version), ...after }, { status, manifest_digest }),
    // Whoever launches it counts elsewhere and disturbs no other change.
    ...(after.status === 'retired' ? [requireNone(versionCounterKey(app_slug, version))] : []),
  ];
}

/** Holds a version to the status it was read with, where the change does not touch it. */
export function requireStatus({ app_slug, version, status, manifest_digest }: Version): Write {
  return requireThat(versionKey(app_slug, version), sameAs({ status, manifest_digest }));
}

export type { Release } from './transition.ts';

/**
 * A move of a version with everything that belongs to it: the app's row and the version's, the version it supersedes,
 * the promotion it is part of, an audit row and an event for each version that moved.
 */
export function decideMove(
  before: Release,
  move: VersionMove,
  promotion: Promotion | undefined,
  now: Date,
  told: { reason?: string } = {},
): { moved: Moved; decision: Decision } {
  const moved = moveVersion(before, move, now);
  const { superseded } = moved;
  return {
    moved,
    decision: {
      ...auditVersionMove(before.version, moved.version),
      ...(superseded && { also: [auditVersionMove(superseded.before, superseded.after)] }),
      place: placeOfApp(before.app),
      writes: [
        ...saveApp(before.app, moved.app),
        ...saveVersion(before.version, moved.version),
        ...(superseded ? saveVersion(superseded.before, superseded.after) : []),
        ...(promotion ? [savePromotion(before.promotion, promotion)] : []),
      ],
      events: [
        VersionMoved(before.version, moved.version, told),
        ...(superseded
          ? [
              VersionMoved(superseded.before, superseded.after, {
                superseded_by: moved.version.version,
              }),
            ]
          : []),
      ],
    },
  };
}

/** A version's manifest, as it was registered. */
export async function findManifest({
  app_slug,
  version,
}: Pick<Version, 'app_slug' | 'version'>): Promise<unknown> {
  return (await readItem(manifestKey(app_slug, version)))?.['manifest'];
}
