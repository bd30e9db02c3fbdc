// Where the catalogue is kept. Pure, because the CDK app reads it too: a function's role reaches these partitions
// and no others.

import type { Key } from '../platform/data/table.ts';
import type { PlaceId } from '../platform/ids.ts';
import type { AppSlug } from '../platform/name.ts';
import { type VersionNumber, versionSortKey } from '../platform/version-number.ts';

/** Every app stands in one partition, so that all of them are one consistent read. */
export const CATALOG_PARTITION = 'CATALOG';

/** What belongs to one app: its versions and their manifests. */
export const APP_PARTITIONS = 'APP#*';

/** Who may launch what: a partition for each project and each organisation. */
export const ENTITLEMENT_PARTITIONS = 'ENTITLEMENTS#*';

export const APP_ROWS = 'APP#';
export const VERSION_ROWS = 'VERSION#';

export const appKey = (slug: AppSlug): Key => ({ pk: CATALOG_PARTITION, sk: `${APP_ROWS}${slug}` });

/** Counts the changes of the partition above: who remembers the apps at a number knows whether they still hold. */
export const catalogHeadKey = (): Key => ({ pk: CATALOG_PARTITION, sk: 'HEAD' });

export const appPartition = (slug: AppSlug): string => `APP#${slug}`;

export const versionKey = (slug: AppSlug, version: VersionNumber): Key => ({
  pk: appPartition(slug),
  sk: `${VERSION_ROWS}${versionSortKey(version)}`,
});
/** How many instances use a version. */
export const versionCounterKey = (slug: AppSlug, version: VersionNumber): Key => ({
  pk: `COUNTER#version#${slug}#${versionSortKey(version)}`,
  sk: 'INSTANCES',
});

/** Apart from the version, which is written often and listed: a manifest is large and is written once. */
export const manifestKey = (slug: AppSlug, version: VersionNumber): Key => ({
  pk: appPartition(slug),
  sk: `MANIFEST#${versionSortKey(version)}`,
});

/** All entitlements of a project, or of an organisation, are one item: one read tells what its people may launch. */
export const entitlementsKey = (placeId: PlaceId): Key => ({
  pk: `ENTITLEMENTS#${placeId}`,
  sk: 'ENTITLEMENTS',
});
