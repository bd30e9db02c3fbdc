// What writes apps and versions, for the catalogue and the domains whose changes an app's row tells too.

import { putNew, replace, requireThat, sameAs, update, type Write } from '../platform/data/commit.ts';
import { type App, APPS_MAX } from './app.ts';
import { requireNone } from '../platform/data/counters.ts';
import { appKey, catalogHeadKey, versionCounterKey, versionKey } from './keys.ts';
import { refuse } from './problems.ts';
import type { Version } from './version.ts';

/** Replaces the app's row, or adds it, and raises the revision that invalidates catalogue caches. */
export function saveApp(before: App | undefined, after: App): Write[] {
  return [putApp(before, after), before ? countChange() : countApp()];
}

/** The same for several that are there. */
export function saveApps(changes: { before: App; after: App }[]): Write[] {
  if (changes.length === 0) return [];
  return [...changes.map(({ before, after }) => putApp(before, after)), countChange()];
}

function putApp(before: App | undefined, after: App): Write {
  const row = { ...appKey(after.slug), ...after };
  return before ? replace(row, { revision: before.revision }) : putNew(row);
}

const countChange = (): Write =>
  update(catalogHeadKey(), { update: 'ADD revision :one', values: { ':one': 1 } });

const countApp = (): Write =>
  update(
    catalogHeadKey(),
    {
      update: 'ADD revision :one, app_count :one',
      condition: 'attribute_not_exists(app_count) OR app_count < :most',
      values: { ':one': 1, ':most': APPS_MAX },
    },
    refuse('app.too_many'),
  );

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
