// Makes containers be there and answer. Each step finds out what is there already: it may have been interrupted anywhere
// before, and is then simply done again.

import type Docker from 'dockerode';
import type { TrustDocument } from '../../functions/tasks/agent-api.ts';
import type { Container } from '../../functions/tasks/task.ts';
import { TaskFailed } from '../tasks/performer.ts';
import { nameOf, readTrust } from './admission.ts';
import { containerOptions } from './container-options.ts';
import { settled } from './deadline.ts';
import { statusOf, unlessAbsent } from './engine-errors.ts';
import type { Image } from './images.ts';
import { NODE, SPEC, specOf } from './labels.ts';
import { ensureNetwork } from './networks.ts';
import type { Parts } from './parts.ts';
import { startComponent } from './start-component.ts';
import { chooseUser, type User } from './user.ts';
import { ensureMountedVolumes, giveVolume } from './volumes.ts';
import { startOrder, type Workload } from './workload.ts';

export interface How {
  trustRevision: number;
  signal: AbortSignal;
  step: (name: string) => void;
  /** `always`: nobody knows whether an interrupted one had ended. `if_created`: in new containers alone. */
  bootstrap: 'always' | 'if_created';
}

/** Of a component that was brought up: what its bootstrap wrote. */
export type Outputs = Map<string, string>;

export async function bringUp(
  parts: Parts,
  workload: Workload,
  how: How,
  wanted: Container[] = workload.containers,
): Promise<Outputs> {
  const { engine, images, isolation } = parts;
  how.step('check_images_and_make_network');
  // Needed when something runs, and nothing has to wait for it before.
  const isolated = isolation.ensure();
  isolated.catch(() => undefined);
  const check = async () => {
    const trust = await readTrust(engine.channel, how.trustRevision, wanted);
    return { trust, found: await images.ensure(wanted, trust, how.signal) };
  };
  const [{ trust, found }] = await settled([check(), ensureNetwork(engine, workload)]);
  const components = await chooseUsers(parts, wanted, trust, found);
  how.signal.throwIfAborted();

  // A step is written to the disk, and who has nothing of it need not wait for that.
  if (wanted.some(({ mounts }) => mounts.length > 0) || workload.volumes.length > 0) {
    how.step('make_volumes');
    await prepareVolumes(parts, workload, components);
  }
  if (wanted.some(({ secrets }) => secrets.length > 0)) how.step('fetch_secrets');
  const secrets = await settled(
    components.map(({ container, user }) => parts.secrets.ensure(engine, workload.id, container, user)),
  );
  how.signal.throwIfAborted();

  how.step('create_containers');
  const made = await settled(
    components.map((component, index) => createContainer(parts, workload, component, secrets[index])),
  );
  await isolated;
  how.step('start_containers');
  return startAll(parts, workload, made, how);
}

interface Component {
  container: Container;
  image: Image;
  user: User;
}

async function chooseUsers(
  { engine }: Parts,
  wanted: Container[],
  trust: TrustDocument,
  images: Map<string, Image>,
): Promise<Component[]> {
  const { usersFrom } = await engine.facts();
  return wanted.map((container) => {
    const image = images.get(nameOf(container));
    if (!image) throw new Error(`${nameOf(container)} was not looked for.`);
    const user = chooseUser(image.user, {
      isRootAsked: container.root,
      isRemapped: usersFrom !== undefined,
      isAllowedWithoutRemap: trust.allow_root_without_remap,
    });
    return { container, image, user };
  });
}

async function prepareVolumes({ engine }: Parts, workload: Workload, components: Component[]): Promise<void> {
  await ensureMountedVolumes(engine, workload);
  const { usersFrom = 0 } = await engine.facts();
  for (const { container, user } of components)
    for (const { volume_id, read_only } of container.mounts)
      if (!read_only)
        await giveVolume(engine, volume_id, { uid: usersFrom + user.uid, gid: usersFrom + user.gid });
}

interface Made {
  container: Container;
  handle: Docker.Container;
  isNew: boolean;
}

async function createContainer(
  { engine }: Parts,
  workload: Workload,
  { container, image, user }: Component,
  secretsDir: string | undefined,
): Promise<Made> {
  const { docker, nodeId } = engine;
  const { runtimes } = await engine.facts();
  const options = containerOptions({
    nodeId,
    workload,
    container,
    image: image.reference,
    imageEnv: image.env,
    imageVolumes: image.volumes,
    user,
    ...(secretsDir !== undefined && { secretsDir }),
    runtimes,
  });
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { container, handle: await docker.createContainer(options), isNew: true };
    } catch (error) {
      if (statusOf(error) !== 409 || attempt > 1) throw error;
      const handle = docker.getContainer(options.name);
      if (await isSame(handle, nodeId, container)) return { container, handle, isNew: false };
      await unlessAbsent(handle.remove({ force: true, v: true }));
    }
  }
}

/** Somebody else's container that has the name is left alone, and ours of another make is made again. */
async function isSame(handle: Docker.Container, nodeId: string, container: Container): Promise<boolean> {
  const found = await unlessAbsent(handle.inspect());
  if (!found) return false;
  if (found.Config.Labels[NODE] !== nodeId)
    throw new TaskFailed('workload_exists', `Another container has the name ${found.Name}.`);
  return found.Config.Labels[SPEC] === specOf(container) && !found.State.Dead;
}

/** Each as soon as those it depends on answer. The first failure ends the waiting for all others. */
async function startAll(parts: Parts, workload: Workload, made: Made[], how: How): Promise<Outputs> {
  const failed = new AbortController();
  const signal = AbortSignal.any([how.signal, failed.signal]);
  const outputs: Outputs = new Map();
  const ready = new Map<string, Promise<void>>();
  const start = async ({ container, handle, isNew }: Made): Promise<void> => {
    await Promise.all(container.depends_on.flatMap((name) => ready.get(name) ?? []));
    signal.throwIfAborted();
    const runBootstrap = isNew || how.bootstrap === 'always';
    const output = await startComponent(parts, workload, container, { handle, signal, runBootstrap });
    if (output !== undefined) outputs.set(container.name, output);
  };
  const here = new Set(made.map(({ container }) => container.name));
  const inOrder = startOrder(
    made.map((each) => ({
      ...each,
      name: each.container.name,
      depends_on: each.container.depends_on.filter((name) => here.has(name)),
    })),
  ).flat();
  for (const each of inOrder) {
    const started = start(each);
    ready.set(each.name, started);
    started.catch((error: unknown) => failed.abort(error));
  }
  await Promise.allSettled(ready.values());
  if (failed.signal.aborted) throw failed.signal.reason;
  how.signal.throwIfAborted();
  return outputs;
}
