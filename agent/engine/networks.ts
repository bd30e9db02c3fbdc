import { TaskFailed } from '../tasks/performer.ts';
import type { Engine } from './engine.ts';
import { statusOf, unlessAbsent } from './engine-errors.ts';
import { bridgeName, labelled, networkLabels, networkName, NODE, WORKLOAD } from './labels.ts';
import type { Workload } from './workload.ts';

const ATTEMPTS_MAX = 5;

/** Its own bridge, by whose name the firewall knows it. The engine refuses a second network of the same name. */
export async function ensureNetwork(engine: Engine, workload: Workload): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await createNetwork(engine, workload, bridgeName(workload.id, attempt));
    } catch (error) {
      if (isBridgeTaken(error) && attempt < ATTEMPTS_MAX) continue;
      if (statusOf(error) !== 409) throw error;
      if ((await listNetworks(engine, workload.id)).length > 0) return;
      throw new TaskFailed('workload_exists', `Another network has the name ${networkName(workload.id)}.`);
    }
  }
}

async function createNetwork({ docker, nodeId }: Engine, workload: Workload, bridge: string): Promise<void> {
  await docker.createNetwork({
    Name: networkName(workload.id),
    CheckDuplicate: true,
    Driver: 'bridge',
    Internal: false,
    Attachable: false,
    EnableIPv6: false,
    Options: { 'com.docker.network.bridge.name': bridge },
    Labels: networkLabels(nodeId, workload),
  });
}

/** An engine that is killed while it makes a network may keep its bridge, and knows no network to remove it by. */
const isBridgeTaken = (error: unknown): boolean =>
  statusOf(error) === 403 && /same bridge name/.test(String(error));

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
