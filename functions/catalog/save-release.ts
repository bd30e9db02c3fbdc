// What writes apps and versions, for the catalogue and the domains whose changes an app's row tells too.

import { change, putNew, replace, requireThat, sameAs, update, type Write } from '../platform/data/commit.ts';
import { type App, APPS_MAX } from './app.ts';
import { appKey, catalogHeadKey, versionKey } from './keys.ts';
import { refuse } from './problems.ts';
import type { Version } from './version.ts';

/** Puts the app's row in place of the one that was read, or of none; whoever remembers the catalogue will know. */
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

/**
 * Writes what has changed of a version since it was read: its status, or a draft as a whole. How many instances use it
 * is not touched, and only its retirement asks for it: a launch that counts itself meanwhile disturbs nobody.
 */
export function saveVersion(before: Version, after: Version): Write {
  const { instance_count: _count, ...changed } = after;
  const { status, manifest_digest } = before;
  const unchanged = {
    condition: '#status = :before_status AND #manifest_digest = :before_digest',
    values: { ':before_status': status, ':before_digest': manifest_digest },
  };
  return change(
    versionKey(after.app_slug, after.version),
    changed,
    after.status === 'retired'
      ? {
          condition: `${unchanged.condition} AND instance_count = :none`,
          values: { ...unchanged.values, ':none': 0 },
        }
      : unchanged,
  );
}

/** Holds a version to the status it was read with, where the change does not touch it. */
export function requireStatus({ app_slug, version, status, manifest_digest }: Version): Write {
  return requireThat(versionKey(app_slug, version), sameAs({ status, manifest_digest }));
}
