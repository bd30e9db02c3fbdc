import * as v from 'valibot';
import { putNew, replace, update, type Write } from '../platform/data/commit.ts';
import { readItems } from '../platform/data/rows.ts';
import { controlTable, readItem } from '../platform/data/table.ts';
import { App, APPS_MAX } from './app.ts';
import { appKey, catalogHeadKey, versionKey } from './keys.ts';
import { Version } from './version.ts';
import { refuse } from './problems.ts';

export async function findApp(slug: string): Promise<App | undefined> {
  return v.parse(v.optional(App), await readItem(appKey(slug)));
}

/** An app and one of its versions, by one request. */
export async function findAppVersion(
  slug: string,
  version: string,
): Promise<{ app?: App; version?: Version }> {
  const [app, found] = await readItems([appKey(slug), versionKey(slug, version)]);
  return { app: v.parse(v.optional(App), app), version: v.parse(v.optional(Version), found) };
}

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

/** Puts the version's row in place of the one that was read: a change of its status, or of a draft. */
export function saveVersion(before: Version, after: Version): Write {
  return {
    action: {
      Put: {
        TableName: controlTable(),
        Item: { ...versionKey(after.app_slug, after.version), ...after },
        ConditionExpression: '#status = :before AND manifest_digest = :digest AND instance_count = :count',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: {
          ':before': before.status,
          ':digest': before.manifest_digest,
          ':count': before.instance_count,
        },
      },
    },
  };
}
