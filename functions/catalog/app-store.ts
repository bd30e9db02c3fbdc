import * as v from 'valibot';
import type { Write } from '../platform/data/commit.ts';
import { readItems } from '../platform/data/rows.ts';
import { controlTable, readItem } from '../platform/data/table.ts';
import { App, APPS_MAX } from './app.ts';
import { appKey, catalogHeadKey, versionKey } from './keys.ts';
import { Version } from './version.ts';

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

const COUNT_CHANGE = {
  UpdateExpression: 'ADD revision :one',
  ExpressionAttributeValues: { ':one': 1 },
};

const COUNT_APP = {
  UpdateExpression: 'ADD revision :one, app_count :one',
  ConditionExpression: 'attribute_not_exists(app_count) OR app_count < :most',
  ExpressionAttributeValues: { ':one': 1, ':most': APPS_MAX },
};

/** Puts the app's row in place of the one that was read, or of none; whoever remembers the catalogue will know. */
export function saveApp(before: App | undefined, after: App): Write[] {
  return [putApp(before, after), countChange(before ? COUNT_CHANGE : COUNT_APP)];
}

/** The same for several that are there. */
export function saveApps(changes: { before: App; after: App }[]): Write[] {
  if (changes.length === 0) return [];
  return [...changes.map(({ before, after }) => putApp(before, after)), countChange(COUNT_CHANGE)];
}

function putApp(before: App | undefined, after: App): Write {
  const condition = before
    ? { ConditionExpression: 'revision = :before', ExpressionAttributeValues: { ':before': before.revision } }
    : { ConditionExpression: 'attribute_not_exists(pk)' };
  return {
    action: { Put: { TableName: controlTable(), Item: { ...appKey(after.slug), ...after }, ...condition } },
    refusal: 'request.conflict',
  };
}

function countChange(count: typeof COUNT_CHANGE | typeof COUNT_APP): Write {
  return {
    action: { Update: { TableName: controlTable(), Key: catalogHeadKey(), ...count } },
    refusal: 'app.too_many',
  };
}

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
    refusal: 'request.conflict',
  };
}
