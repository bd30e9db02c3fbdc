import { TaskFailed } from '../tasks/performer.ts';
import type { Engine } from './engine.ts';
import { statusOf, unlessAbsent } from './engine-errors.ts';
import { bridgeName, labelled, networkLabels, networkName, NODE, WORKLOAD } from './labels.ts';
import type { Workload } from './workload.ts';

/** Its own bridge, by whose name the firewall knows it. The engine refuses a second one of the same name. */
export async function ensureNetwork(engine: Engine, workload: Workload): Promise<void> {
  const { docker, nodeId } = engine;
  try {
    await docker.createNetwork({
      Name: networkName(workload.id),
      CheckDuplicate: true,
      Driver: 'bridge',
      Internal: false,
      Attachable: false,
      EnableIPv6: false,
      Options: { 'com.docker.network.bridge.name': bridgeName(workload.id) },
      Labels: networkLabels(nodeId, workload),
    });
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
    if ((await listNetworks(engine, workload.id)).length === 0)
      throw new TaskFailed('workload_exists', `Another network has the name ${networkName(workload.id)}.`);
  }
}

export async function listNetworks(
  { docker, nodeId }: Pick<Engine, 'docker' | 'nodeId'>,
  workloadId: string,
): Promise<{ id: string; name: string }[]> {
  const filters = labelled([NODE, nodeId], [WORKLOAD, workloadId]);
  const found = await docker.listNetworks({ filters });
  return found.map(({ Id, Name }) => ({ id: Id, name: Name }));
}

/** Whatever is still attached is ours, as nothing else is put on a workload's network; it must not hold it. */
export async function removeNetwork({ docker }: Engine, id: string): Promise<void> {
  const network = docker.getNetwork(id);
  try {
    await unlessAbsent(network.remove());
  } catch (error) {
    if (statusOf(error) !== 403) throw error;
    const found = (await unlessAbsent(network.inspect())) as
      { Containers?: Record<string, unknown> } | undefined;
    for (const Container of Object.keys(found?.Containers ?? {}))
      await unlessAbsent(network.disconnect({ Container, Force: true }));
    await unlessAbsent(network.remove());
  }
}
