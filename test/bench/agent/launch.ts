// How long a launch takes beside what the container engine needs for it anyway. A process of its own: it has a world of
// its own, with an engine, a registry and a queue.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { containerOptions } from '../../../agent/engine/container-options.ts';
import { networkName } from '../../../agent/engine/labels.ts';
import { FIRST_PAUSE_MS, isHealthy, nextPauseMs } from '../../../agent/engine/probe.ts';
import { workloadOf } from '../../../agent/engine/workload.ts';
import { payloadSchema } from '../../../functions/tasks/task.ts';
import type { Host } from '../../agent/crash/host.ts';
import { launchOf } from '../../agent/crash/payloads.ts';
import { openWorld, type World } from '../../agent/crash/world.ts';
import { findDockerd } from '../../../lib/local/engines/docker.ts';
import { interleave, measureApart, quantile, report, type Row } from '../measure.ts';

const ROUNDS = 40;
const WARM_UP = 3;
/** Nobody on this machine, as for images that name no user. */
const USER = { uid: 64_000, gid: 64_000 };

interface Bench {
  world: World;
  host: Host;
  /** As the engine names the image. */
  image: string;
}

/** From its beginning to its outcome, as the journal has them. */
async function launchMs({ world, host }: Bench): Promise<number> {
  const id = randomUUID();
  const task = host.taskOf('oci.launch', id, launchOf(id, world.web));
  const [outcome] = await host.run([task]);
  if (outcome?.status !== 'succeeded') throw new Error(JSON.stringify(outcome));
  const at = (name: string): number =>
    host.agent.steps().find(({ label, about }) => label === name && about === task.id)?.atMs ?? Number.NaN;
  await host.run([host.taskOf('oci.remove', id, { workload_id: id, stop_grace_seconds: 1 })]);
  return at('task.ended') - at('task.begun');
}

/** By hand, and looked at until it answers, as often as the agent looks. */
async function dockerRunMs({ world, host, image }: Bench): Promise<number> {
  const { docker } = world;
  const begun = performance.now();
  const publish = `--publish=127.0.0.1:${host.portRange.to}:8080`;
  const words = ['run', '--detach', '--init', publish, image];
  const { stdout } = await promisify(execFile)('docker', words, {
    env: { ...process.env, DOCKER_HOST: world.engine().host },
  });
  const container = docker.getContainer(stdout.trim());
  const { NetworkSettings } = await container.inspect();
  const probed = { container, address: NetworkSettings.Networks['bridge']?.IPAddress ?? '' };
  const { container: asked } = v.parse(payloadSchema('oci.launch'), launchOf(randomUUID(), world.web));
  let pauseMs = FIRST_PAUSE_MS;
  while (!(await isHealthy(probed, asked, new AbortController().signal))) {
    await wait(pauseMs);
    if (asked.health) pauseMs = nextPauseMs(pauseMs, asked.health);
  }
  const ms = performance.now() - begun;
  await container.remove({ force: true });
  return ms;
}

/** The same container on the same network, with all that keeps it in or with nothing of it. */
async function startMs({ world, host, image }: Bench, network: string, isHardened: boolean): Promise<number> {
  const payload = v.parse(payloadSchema('oci.launch'), launchOf(network, world.web, { ports: [] }));
  const { HostConfig, ...options } = containerOptions({
    nodeId: host.nodeId,
    workload: workloadOf(payload, 1),
    container: payload.container,
    image,
    imageEnv: [],
    imageVolumes: [],
    user: USER,
    runtimes: [],
  });
  const name = `bench-${randomUUID()}`;
  const begun = performance.now();
  const container = await world.docker.createContainer(
    isHardened
      ? { ...options, HostConfig, name }
      : { Image: image, name, HostConfig: { NetworkMode: networkName(network), Init: true } },
  );
  await container.start();
  const ms = performance.now() - begun;
  await container.remove({ force: true });
  return ms;
}

/** Where this machine can be no host there is nothing to measure. */
export const measureLaunch = async (): Promise<Row[]> =>
  findDockerd() === undefined || process.getuid?.() !== 0 ? [] : measureApart(import.meta.filename);

async function measure(): Promise<Row[]> {
  const world = await openWorld();
  try {
    const host = await world.openHost();
    host.agent.start();
    const { repository, digest } = world.web;
    const image = `${world.platform.ecr.registry.host}/${repository}@${digest}`;
    const bench = { world, host, image };
    const network = randomUUID();
    await world.docker.createNetwork({ Name: networkName(network) });
    const launches = { agent: () => launchMs(bench), docker: () => dockerRunMs(bench) };
    await interleave(WARM_UP, launches);
    const launched = await interleave(ROUNDS, launches);
    const started = await interleave(ROUNDS, {
      hardened: () => startMs(bench, network, true),
      plain: () => startMs(bench, network, false),
    });
    return [
      ratio('launch by the agent until ready ÷ docker run until ready', launched, ['agent', 'docker'], 1.2),
      ratio('start of a container with all limits ÷ without', started, ['hardened', 'plain'], 1.1),
    ];
  } finally {
    await world.close();
  }
}

function ratio(
  what: string,
  samples: Record<string, number[]>,
  [own, base]: [string, string],
  must: number,
): Row {
  const told = (name: string) =>
    `${quantile(samples[name], 0.5).toFixed(0)} ms (p99 ${quantile(samples[name], 0.99).toFixed(0)})`;
  return {
    what,
    value: quantile(samples[own], 0.5) / quantile(samples[base], 0.5),
    unit: '×',
    must,
    note: `p50 ${told(own)} ÷ ${told(base)}`,
  };
}

if (import.meta.main) {
  report(await measure());
  process.disconnect?.();
}
