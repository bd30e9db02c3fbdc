import * as v from 'valibot';
import { versionKey } from '../catalog/keys.ts';
import { Version } from '../catalog/version.ts';
import { queryAll, readItems } from '../platform/data/rows.ts';
import { type Key, queryPage } from '../platform/data/table.ts';
import { type AppInstanceId, type ArtifactId, textOf } from '../platform/ids.ts';
import type { Artifact } from './artifact.ts';
import { findArtifacts } from './find-artifact.ts';
import { contentPartition, INSTANCE_ROWS, instanceUseKey, PROJECT_ROWS, STOPPING_ROWS } from './keys.ts';
import { type ContentHolder, InstanceUse, StoppingRow, type Uses, USES_MAX } from './usage.ts';

/** Who has registered the bytes, and who runs them, by one request; projects come first, as there are fewer. */
export async function findUses(digest: string): Promise<Uses> {
  const { items, next } = await queryPage({
    condition: 'pk = :content',
    values: { ':content': contentPartition(digest) },
    limit: USES_MAX,
    descending: true,
    consistent: true,
  });
  const of = (kind: string) => items.filter(({ sk }) => String(sk).startsWith(kind));
  return {
    // The row stays, empty, after its last artifact was removed.
    holders: of(PROJECT_ROWS)
      .map(parseHolder)
      .filter(({ artifact_ids }) => artifact_ids.length > 0),
    instances: of(INSTANCE_ROWS).map((item) => v.parse(InstanceUse, item)),
    stoppings: of(STOPPING_ROWS).map((item) => v.parse(StoppingRow, item)),
    isTruncated: next !== undefined,
  };
}

const HolderRow = v.object({ sk: v.string(), artifact_ids: v.optional(v.set(textOf<ArtifactId>())) });

function parseHolder(row: unknown): ContentHolder {
  const { sk, artifact_ids = [] } = v.parse(HolderRow, row);
  return { project_id: sk.slice(PROJECT_ROWS.length), artifact_ids: [...artifact_ids] };
}

/** As many artifacts as are told of in one answer. */
const TOLD_MAX = 50;

/** The artifact with those of the ids that are others, and the versions all of them are for, by at most two requests. */
export async function findNamesakes(
  artifact: Artifact,
  ids: ArtifactId[],
): Promise<{ artifacts: Artifact[]; versions: Version[]; isCut: boolean }> {
  const others = ids.filter((id) => id !== artifact.id);
  const artifacts = [artifact, ...(await findArtifacts(others.slice(0, TOLD_MAX)))];
  const keys = new Map(
    artifacts
      .map(({ app_slug, app_version }): Key => versionKey(app_slug, app_version))
      .map((key) => [`${key.pk} ${key.sk}`, key]),
  );
  const rows = await readItems([...keys.values()]);
  const versions = rows.flatMap((row) => (row ? [v.parse(Version, row)] : []));
  return { artifacts, versions, isCut: others.length > TOLD_MAX };
}

/** The next instances that run the bytes, by their ids. */
export async function listInstances(
  digest: string,
  after: AppInstanceId | null,
  limit: number,
): Promise<{ instances: InstanceUse[]; next?: AppInstanceId }> {
  const { items, next } = await queryPage({
    condition: 'pk = :content AND begins_with(sk, :kind)',
    values: { ':content': contentPartition(digest), ':kind': INSTANCE_ROWS },
    limit,
    from: after === null ? undefined : { ...instanceUseKey(digest, after) },
    consistent: true,
  });
  const last = next?.['sk'] as string | undefined;
  return {
    instances: items.map((item) => v.parse(InstanceUse, item)),
    next: last?.slice(INSTANCE_ROWS.length),
  };
}

const COUNTED_MAX = 5 * USES_MAX;

/** How many instances of the app run the bytes; at least one if there are too many rows to read. */
export async function countInstances({ digest, app_slug }: Artifact): Promise<number> {
  const { items, isTruncated } = await queryAll({
    condition: 'pk = :content AND begins_with(sk, :kind)',
    values: { ':content': contentPartition(digest), ':kind': INSTANCE_ROWS },
    max: COUNTED_MAX,
    consistent: true,
  });
  const count = items.filter((item) => v.parse(InstanceUse, item).app_slug === app_slug).length;
  return isTruncated ? Math.max(count, 1) : count;
}
