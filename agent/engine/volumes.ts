// Named volumes and nothing else of the host's disk. Scratch volumes carry their workload and go with it; persistent
// ones carry their project alone.

import { lchownSync } from 'node:fs';
import type { VolumeInspectInfo } from 'dockerode';
import type { Volume } from '../../functions/tasks/task.ts';
import { TaskFailed } from '../tasks/performer.ts';
import type { Engine } from './engine.ts';
import { settled } from './deadline.ts';
import { unlessAbsent } from './engine-errors.ts';
import { labelled, NODE, PROJECT, VOLUME, VOLUME_KIND, volumeName, WORKLOAD } from './labels.ts';
import type { User } from './user.ts';
import type { Workload } from './workload.ts';

interface Wanted {
  volume: Volume;
  projectId: string;
  /** Of a scratch volume. */
  workloadId?: string;
}

/** The engine answers with the volume that has the name already, whoever's it is: the labels decide. */
export async function ensureVolume(engine: Engine, { volume, projectId, workloadId }: Wanted): Promise<void> {
  const { docker, nodeId } = engine;
  const labels: Record<string, string> = {
    [NODE]: nodeId,
    [PROJECT]: projectId,
    [VOLUME]: volume.id,
    [VOLUME_KIND]: volume.kind,
    ...(volume.kind === 'scratch' && workloadId !== undefined && { [WORKLOAD]: workloadId }),
  };
  const Name = volumeName(volume.id);
  const found = await unlessAbsent(docker.getVolume(Name).inspect());
  if (found) return requireOwn(found, labels);
  await createVolume(engine, Name, labels, volume.size_gib);
  requireOwn(await docker.getVolume(Name).inspect(), labels);
}

/** Only some storage enforces a size; elsewhere the volume is as large as the disk. */
async function createVolume(
  { docker, log }: Engine,
  Name: string,
  Labels: Record<string, string>,
  sizeGib: number | undefined,
): Promise<void> {
  const create = (DriverOpts: Record<string, string>) =>
    docker.createVolume({ Name, Driver: 'local', Labels, DriverOpts });
  if (sizeGib === undefined) return void (await create({}));
  try {
    await create({ size: `${sizeGib}g` });
  } catch (error) {
    if (!/quota/i.test((error as Error).message)) throw error;
    log('warn', 'The storage of the engine enforces no sizes of volumes.', {
      volume: Name,
      size_gib: sizeGib,
    });
    await create({});
  }
}

function requireOwn({ Name, Labels }: VolumeInspectInfo, expected: Record<string, string>): void {
  const isOwn = Object.entries(expected).every(([name, value]) => Labels?.[name] === value);
  if (!isOwn) throw new TaskFailed('volume_unknown', `${Name} is not a volume of this project on this host.`);
}

/** A task names every volume that its containers mount. */
export async function ensureMountedVolumes(engine: Engine, workload: Workload): Promise<void> {
  const { volumes, project_id: projectId, id: workloadId } = workload;
  await settled(volumes.map((volume) => ensureVolume(engine, { volume, projectId, workloadId })));
}

/** Whoever runs the container may write to it; what lies in it already is left as it is. */
export async function giveVolume({ docker }: Engine, volumeId: string, owner: User): Promise<void> {
  const { Mountpoint } = await docker.getVolume(volumeName(volumeId)).inspect();
  lchownSync(Mountpoint, owner.uid, owner.gid);
}

export async function listScratch({ docker, nodeId }: Engine, workloadId: string): Promise<string[]> {
  const filters = labelled([NODE, nodeId], [WORKLOAD, workloadId]);
  const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(filters) as never });
  return (Volumes ?? []).map(({ Name }) => Name);
}

/** A volume that is not there is removed already. */
export async function removeVolume({ docker, nodeId }: Engine, volumeId: string): Promise<void> {
  const volume = docker.getVolume(volumeName(volumeId));
  const found = await unlessAbsent(volume.inspect());
  if (!found) return;
  requireOwn(found, { [NODE]: nodeId });
  const filters = { volume: [volumeName(volumeId)] };
  const users = await docker.listContainers({ all: true, filters });
  if (users.length > 0)
    throw new TaskFailed('volume_in_use', `${users.map(({ Names }) => Names[0] ?? '').join(', ')} uses it.`);
  await unlessAbsent(volume.remove());
}
