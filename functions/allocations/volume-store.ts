import * as v from 'valibot';
import { put, putNew, remove, replace, sameAs, type Write } from '../platform/data/commit.ts';
import { type PageAsked, readGathered } from '../platform/data/rows.ts';
import { queryPage, readItem } from '../platform/data/table.ts';
import { lowerCased, type ProjectId, VolumeId } from '../platform/ids.ts';
import type { PageOf } from '../platform/page.ts';
import { CHANGING_VOLUMES, changingVolumeKey, projectVolumes, volumeKey } from './keys.ts';
import { requireOwnVolume, Volume } from './volume.ts';

export async function findVolume(projectId: ProjectId, id: VolumeId): Promise<Volume> {
  return requireOwnVolume(await findAnyVolume(id), projectId);
}

/** Of whichever project. */
export async function findAnyVolume(id: VolumeId): Promise<Volume | undefined> {
  return v.parse(v.optional(Volume), await readItem(volumeKey(lowerCased(id))));
}

export async function listProjectVolumes(projectId: ProjectId, page: PageAsked): Promise<PageOf<Volume>> {
  const { items, next_cursor } = await readGathered(projectVolumes(projectId), volumeKey, page);
  return { items: items.map((item) => v.parse(Volume, item)), next_cursor };
}

const CHANGING_MAX = 500;
const Changing = v.object({ volume_id: VolumeId });

/** Those a host was asked to make or remove, the longest ago first; what is beyond comes next time. */
export async function listChangingVolumes(): Promise<VolumeId[]> {
  const { items } = await queryPage({
    index: 'gsi1',
    condition: 'gsi1pk = :changing',
    values: { ':changing': CHANGING_VOLUMES },
    limit: CHANGING_MAX,
  });
  return items.map((item) => v.parse(Changing, item).volume_id);
}

export const insertVolume = (volume: Volume): Write[] => [
  putNew({
    ...volumeKey(volume.id),
    ...volume,
    gsi1pk: projectVolumes(volume.project_id),
    gsi1sk: volume.id,
  }),
  putNew(changingRow(volume)),
];

/** Puts it in place of the one that was read, and into or out of the list of those a host is asked about. */
export function saveVolume(before: Volume, after: Volume): Write[] {
  const { id, project_id, status } = after;
  return [
    replace(
      { ...volumeKey(id), ...after, gsi1pk: projectVolumes(project_id), gsi1sk: id },
      { version: before.version },
    ),
    status === 'creating' || status === 'removing' ? put(changingRow(after)) : remove(changingVolumeKey(id)),
  ];
}

export const removeVolume = ({ id, version }: Volume): Write[] => [
  remove(volumeKey(id), sameAs({ version })),
  remove(changingVolumeKey(id)),
];

const changingRow = ({ id }: Volume) => ({
  ...changingVolumeKey(id),
  volume_id: id,
  gsi1pk: CHANGING_VOLUMES,
  gsi1sk: id,
});
