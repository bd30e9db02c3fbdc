import * as v from 'valibot';
import { Artifact } from './artifact.ts';
import { projectArtifacts } from './keys.ts';
import { artifactKey } from '../catalog/readiness.ts';
import type { PageAsked } from '../platform/data/rows.ts';
import { queryPage } from '../platform/data/table.ts';
import type { ProjectId } from '../platform/ids.ts';
import type { AppSlug } from '../platform/name.ts';
import { decodeCursor, encodeCursor, type PageOf } from '../platform/page.ts';
import { type VersionNumber, versionSortKey } from '../platform/version-number.ts';

/** How many rows one request reads to find artifacts in the requested states. */
const LOOKED_AT = 500;

export interface ArtifactFilter {
  app_slug?: AppSlug;
  /** Of that app. */
  app_version?: VersionNumber;
  channel?: string;
  lifecycle_state?: Artifact['lifecycle_state'];
  trust_state?: Artifact['trust_state'];
}

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const POSITION = new RegExp(`^[a-z0-9-]{2,40}#[ -~]{1,300}#[0-9TZ:.-]{24}#${ID}$`);

/**
 * By app, version and age. App and version are in the key; for the other filters more rows are read than requested, so
 * that a page is full unless few artifacts match.
 */
export async function listArtifactsOf(
  projectId: ProjectId,
  { app_slug, app_version, ...states }: ArtifactFilter,
  { limit, cursor }: PageAsked,
): Promise<PageOf<Artifact>> {
  const partition = projectArtifacts(projectId);
  const wanted = Object.entries(states).filter(([, state]) => state !== undefined);
  const after = decodeCursor(cursor, POSITION);
  const { items, next } = await queryPage({
    index: 'gsi1',
    ...keyCondition(partition, app_slug, app_version),
    limit: wanted.length > 0 ? LOOKED_AT : limit,
    from: after === undefined ? undefined : startOf(partition, after),
  });
  const shown = items.filter((item) => wanted.every(([name, state]) => item[name] === state));
  const page = shown.slice(0, limit);
  const onward = shown.length > limit ? page.at(-1) : next;
  return {
    items: page.map((item) => v.parse(Artifact, item)),
    next_cursor: encodeCursor(onward?.['gsi1sk'] as string | undefined),
  };
}

function keyCondition(partition: string, appSlug: AppSlug | undefined, version: VersionNumber | undefined) {
  const within = { ':project': partition };
  if (appSlug === undefined) return { condition: 'gsi1pk = :project', values: within };
  const prefix = [appSlug, ...(version === undefined ? [] : [versionSortKey(version)]), ''].join('#');
  return {
    condition: 'gsi1pk = :project AND begins_with(gsi1sk, :prefix)',
    values: { ...within, ':prefix': prefix },
  };
}

function startOf(partition: string, position: string) {
  const id = position.slice(position.lastIndexOf('#') + 1);
  return { ...artifactKey(id), gsi1pk: partition, gsi1sk: position };
}
