import { setTimeout as wait } from 'node:timers/promises';
import type { ContainerInfo } from 'dockerode';
import type { Engine } from './engine.ts';
import { isEngineGone, statusOf, unlessAbsent, unlessSo } from './engine-errors.ts';
import { COMPONENT, labelled, NODE, WORKLOAD } from './labels.ts';
import { listNetworks, removeNetwork } from './networks.ts';
import type { Parts } from './parts.ts';
import { listScratch } from './volumes.ts';
import { startOrder, type Workload } from './workload.ts';

/** The engine may still be busy with something it was told before. */
const PASSES_MAX = 5;
const PASS_PAUSE_MS = 100;

export interface Belongings {
  containers: string[];
  networks: string[];
  volumes: string[];
  paths: string[];
}

/** What of a workload is there, by its labels. */
export async function findBelongings(parts: Parts, workloadId: string): Promise<Belongings> {
  const { engine, secrets } = parts;
  const [containers, networks, volumes] = await Promise.all([
    listContainers(engine, workloadId),
    listNetworks(engine, workloadId),
    listScratch(engine, workloadId),
  ]);
  return {
    containers: containers.map(nameOf),
    networks: networks.map(({ name }) => name),
    volumes,
    paths: secrets.list().includes(workloadId) ? [secrets.pathOf(workloadId)] : [],
  };
}

export const namesOf = ({ containers, networks, volumes, paths }: Belongings): string[] => [
  ...containers,
  ...networks,
  ...volumes,
  ...paths,
];

function listContainers({ docker, nodeId }: Engine, workloadId: string): Promise<ContainerInfo[]> {
  return docker.listContainers({ all: true, filters: labelled([NODE, nodeId], [WORKLOAD, workloadId]) });
}

const nameOf = ({ Names, Id }: ContainerInfo): string => Names[0]?.replace(/^\//, '') ?? Id;

/** SIGTERM, then after the grace SIGKILL. Those that others depend on end last. */
export async function stopContainers(
  { engine }: Parts,
  workloadId: string,
  workload: Workload | undefined,
  graceSeconds: number,
): Promise<void> {
  const found = await listContainers(engine, workloadId);
  const running = found.filter(({ State }) => State !== 'created' && State !== 'exited');
  const known = new Map(running.map((info) => [info.Labels[COMPONENT] ?? '', info]));
  const steps = workload ? startOrder(workload.containers).toReversed() : [];
  const inOrder = steps.map((step) => step.flatMap(({ name }) => known.get(name) ?? []));
  const ordered = new Set(inOrder.flat());
  const others = running.filter((info) => !ordered.has(info));
  for (const step of [...inOrder, others])
    await Promise.all(
      step.map(({ Id }) => unlessAbsent(unlessSo(engine.docker.getContainer(Id).stop({ t: graceSeconds })))),
    );
}

/** Everything of a workload, at once. Answers what is still there after it was looked at again. */
export async function tearDown(parts: Parts, workloadId: string): Promise<Belongings> {
  for (let pass = 1; ; pass += 1) {
    await removeOnce(parts, workloadId);
    const left = await findBelongings(parts, workloadId);
    if (namesOf(left).length === 0 || pass === PASSES_MAX) {
      parts.states.forget(workloadId);
      return left;
    }
    await wait(PASS_PAUSE_MS * pass);
  }
}

async function removeOnce(parts: Parts, workloadId: string): Promise<void> {
  const { engine, secrets } = parts;
  const { docker, log } = engine;
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await unlessAbsent(work());
    } catch (error) {
      if (isEngineGone(error)) throw error;
      // 409: it is being removed. What stays is seen when it is looked at again.
      if (statusOf(error) !== 409) log('warn', `${what} could not be removed.`, { error: String(error) });
    }
  };
  const containers = await listContainers(engine, workloadId);
  await Promise.all(
    containers.map((info) =>
      attempt(nameOf(info), () => docker.getContainer(info.Id).remove({ force: true, v: true })),
    ),
  );
  const [networks, volumes] = await Promise.all([
    listNetworks(engine, workloadId),
    listScratch(engine, workloadId),
  ]);
  await Promise.all([
    ...networks.map(({ id, name }) => attempt(name, () => removeNetwork(engine, id))),
    ...volumes.map((name) => attempt(name, () => docker.getVolume(name).remove())),
  ]);
  secrets.remove(workloadId);
}
