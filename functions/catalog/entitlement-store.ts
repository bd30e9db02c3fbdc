import type { Refusal } from '../platform/errors.ts';
import * as v from 'valibot';
import { update, type Write } from '../platform/data/commit.ts';
import { placeId } from '../platform/data/keys.ts';
import { readItems } from '../platform/data/rows.ts';
import type { OrgId, ProjectId } from '../platform/ids.ts';
import type { AppSlug } from '../platform/name.ts';
import { App } from './app.ts';
import { type CachedCatalog, catalogAt } from './catalog-cache-store.ts';
import { Entitlement, ENTITLEMENTS_MAX, type Says } from './entitlement.ts';
import { appKey, catalogHeadKey, entitlementsKey } from './keys.ts';

/** The entitlements of a place, by app slug. */
export type Entitlements = Map<AppSlug, Entitlement>;

interface Place {
  org_id: OrgId;
  /** Without one, the organisation itself. */
  project_id?: ProjectId;
}

interface AppSays extends Says {
  app?: App;
  /** The number of apps with an entitlement. */
  count: number;
}

/** An app and what a place and its organisation say of it, by one request. */
export async function findAppSays(slug: AppSlug, { org_id, project_id }: Place): Promise<AppSays> {
  const [app, org, own] = await readItems([
    appKey(slug),
    entitlementsKey(org_id),
    ...(project_id === undefined ? [] : [entitlementsKey(project_id)]),
  ]);
  const name = attributeOf(slug);
  return {
    app: v.parse(v.optional(App), app),
    org: v.parse(v.optional(Entitlement), org?.[name]),
    own: v.parse(v.optional(Entitlement), own?.[name]),
    count: countOf(project_id === undefined ? org : own),
  };
}

/** The whole catalogue and what a place and its organisation say of it, by one request where it is remembered. */
export async function readCatalogSays({
  org_id,
  project_id,
}: Place): Promise<{ catalog: CachedCatalog; org: Entitlements; own: Entitlements }> {
  const [head, org, own] = await readItems([
    catalogHeadKey(),
    entitlementsKey(org_id),
    ...(project_id === undefined ? [] : [entitlementsKey(project_id)]),
  ]);
  return { catalog: await catalogAt(head), org: entitlementsIn(org), own: entitlementsIn(own) };
}

/** Puts the entry in place of the one that was read, or of none; others of the same place may change meanwhile. */
export function saveEntitlement(
  place: Place,
  slug: AppSlug,
  before: Entitlement | undefined,
  after: Entitlement,
  stale: Refusal | undefined,
): Write {
  const key = entitlementsKey(placeId(place));
  const names = { '#app': attributeOf(slug) };
  if (before)
    return update(
      key,
      {
        update: 'SET #app = :after',
        condition: '#app.version = :before',
        names,
        values: { ':after': after, ':before': before.version },
      },
      stale,
    );
  return update(
    key,
    {
      update: 'SET #app = :after ADD app_count :one',
      condition: 'attribute_not_exists(#app) AND (attribute_not_exists(app_count) OR app_count < :most)',
      names,
      values: { ':after': after, ':one': 1, ':most': ENTITLEMENTS_MAX },
    },
    stale,
  );
}

// A slug is never the name of an attribute by itself: one may be called `pk`.
const APP_ATTRIBUTE = 'app:';
const attributeOf = (slug: AppSlug): string => `${APP_ATTRIBUTE}${slug}`;

type Row = Record<string, unknown> | undefined;

function entitlementsIn(row: Row): Entitlements {
  const entries = Object.entries(row ?? {}).filter(([name]) => name.startsWith(APP_ATTRIBUTE));
  return new Map(
    entries.map(([name, entry]) => [name.slice(APP_ATTRIBUTE.length), v.parse(Entitlement, entry)]),
  );
}

const countOf = (row: Row): number => v.parse(v.optional(v.number(), 0), row?.['app_count']);
