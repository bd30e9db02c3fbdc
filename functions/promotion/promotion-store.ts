import * as v from 'valibot';
import { commit, requireThat, type Write } from '../platform/data/commit.ts';
import { decidingAgain } from '../platform/data/change.ts';
import { artifactKey, artifactPromotionKey } from '../artifacts/keys.ts';
import { readItems, readItemsAtOnce } from '../platform/data/rows.ts';
import { controlTable, type Key, queryPage, readItem, updateItem } from '../platform/data/table.ts';
import { App } from '../catalog/app.ts';
import { OBSERVED_MAX } from './canary-guard.ts';
import { appKey, manifestKey, OPEN_PROMOTIONS, promotionKey, versionKey } from '../catalog/keys.ts';
import { Promotion, type Subject } from './promotion.ts';
import { ArtifactState, boundIdOf, describeUnready, type Rank, SUFFICIENT } from '../catalog/readiness.ts';
import { Version } from '../catalog/version.ts';
import { refuse } from './problems.ts';

export interface Found {
  app?: App;
  version?: Version;
  promotion?: Promotion;
}

/** An app, one of its versions and how that was last promoted, by one request. */
export async function findPromotion(slug: string, version: string): Promise<Found> {
  return parseFound(await readItems(keysOf(slug, version)));
}

/** A version's manifest, as it was registered. */
export async function findManifest({ app_slug, version }: Pick<Version, 'app_slug' | 'version'>) {
  return (await readItem(manifestKey(app_slug, version)))?.['manifest'];
}

/** A version and its promotion as they stand at one moment: neither tells of a step the other has not made. */
export async function findPromotionAtOnce(slug: string, version: string): Promise<Omit<Found, 'app'>> {
  const [, ...keys] = keysOf(slug, version);
  return parseFound([undefined, ...(await readItemsAtOnce(keys))]);
}

const keysOf = (slug: string, version: string): Key[] => [
  appKey(slug),
  versionKey(slug, version),
  promotionKey(slug, version),
];

function parseFound([app, version, promotion]: unknown[]): Found {
  return {
    app: v.parse(v.optional(App), app),
    version: v.parse(v.optional(Version), version),
    promotion: v.parse(v.optional(Promotion), promotion),
  };
}

/** What a version's move depends on: its artifacts as they are, and another version of the app. */
export async function findArtifactsOf(
  version: Version,
  other: string | undefined,
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

/** Holds the artifacts to it at the moment of writing: none may be taken back while the version moves on. */
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

/** Holds a version to the status it was read with, where the change does not touch it. */
export function requireStatus({ app_slug, version, status, manifest_digest }: Version): Write {
  return requireThat(versionKey(app_slug, version), {
    condition: '#status = :status AND manifest_digest = :digest',
    names: { '#status': 'status' },
    values: { ':status': status, ':digest': manifest_digest },
  });
}

/**
 * Writes what has changed since it was read, unless somebody else was quicker. The instances counted stay as they are:
 * they are added beside, and only a new canary forgets them.
 */
export function savePromotion(before: Promotion | undefined, after: Promotion): Write {
  const { running_ids, failed_ids, ...row } = after;
  const isOpen = row.status === 'running';
  const attributes: Record<string, unknown> = {
    ...row,
    revision: (before?.revision ?? 0) + 1,
    ...(isOpen && { gsi1pk: OPEN_PROMOTIONS, gsi1sk: row.requested_at }),
  };
  const forgotten = [
    ...(running_ids || !before?.running_ids ? [] : ['running_ids']),
    ...(failed_ids || !before?.failed_ids ? [] : ['failed_ids']),
    ...(isOpen ? [] : ['gsi1pk', 'gsi1sk']),
    ...OPTIONAL.filter((name) => attributes[name] === undefined),
  ];
  const kept = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const set = kept.map(([name]) => `#${name} = :${name}`).join(', ');
  const removed = forgotten.map((name) => `#${name}`).join(', ');
  return {
    action: {
      Update: {
        TableName: controlTable(),
        Key: keyOf(after.subject),
        UpdateExpression: `SET ${set}${removed && ` REMOVE ${removed}`}`,
        ConditionExpression: before ? '#revision = :before' : 'attribute_not_exists(pk)',
        ExpressionAttributeNames: Object.fromEntries(
          [...kept.map(([name]) => name), ...forgotten].map((name) => [`#${name}`, name]),
        ),
        ExpressionAttributeValues: {
          ...Object.fromEntries(kept.map(([name, value]) => [`:${name}`, value])),
          ...(before && { ':before': before.revision }),
        },
      },
    },
  };
}

const OPTIONAL = ['canary', 'grace_until', 'task_token', 'started_at', 'ended_at', 'error'];

const keyOf = (subject: Subject): Key =>
  subject.kind === 'version'
    ? promotionKey(subject.app_slug, subject.version)
    : artifactPromotionKey(subject.artifact_id);

/** Keeps what a step has to remember, where nobody needs to be told. */
export async function keepPromotion(
  subject: Subject,
  change: (promotion: Promotion) => Promotion | undefined,
): Promise<void> {
  await decidingAgain(async () => {
    const promotion = v.parse(v.optional(Promotion), await readItem(keyOf(subject)));
    const after = promotion && change(promotion);
    if (after) await commit([savePromotion(promotion, after)]);
  }, 'unavailable');
}

/** Counts an instance towards the canary under way; false where there is none. The same one twice counts once. */
export async function countInstance(
  slug: string,
  version: string,
  instance: { id: string; list: 'running_ids' | 'failed_ids'; at: string },
): Promise<boolean> {
  return updateItem(promotionKey(slug, version), {
    update: 'ADD #list :instance',
    condition:
      'canary.began_at <= :at AND attribute_not_exists(canary.ended_at) AND (attribute_not_exists(#list) OR size(#list) < :max)',
    names: { '#list': instance.list },
    values: { ':instance': new Set([instance.id]), ':at': instance.at, ':max': OBSERVED_MAX },
  });
}

const SWEEP_PAGE = 100;
const SWEEP_PAGES_MAX = 5;

/** Promotions that have not ended, oldest first; what one sweep leaves over, the next may find ended. */
export async function openPromotions(): Promise<Promotion[]> {
  const open: Promotion[] = [];
  let from: Record<string, unknown> | undefined;
  for (let page = 0; page < SWEEP_PAGES_MAX; page += 1) {
    const { items, next } = await queryPage({
      index: 'gsi1',
      condition: 'gsi1pk = :open',
      values: { ':open': OPEN_PROMOTIONS },
      limit: SWEEP_PAGE,
      from,
    });
    open.push(...items.map((item) => v.parse(Promotion, item)));
    if (!next) break;
    from = next;
  }
  return open;
}
