// A machine with a real container engine and a registry, a neighbour's container on it, and room for hosts.

import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Dockerode from 'dockerode';
import { startDocker } from '../../../lib/local/engines/docker.ts';
import { startQueues } from '../../queues.ts';
import { makeImage } from '../engine/busybox-image.ts';
import { openHostPlatform } from '../engine/platform.ts';
import { type Host, type HostOptions, openHost } from './host.ts';

const FIRST_PORT = 2_000;
const WORLDS_MAX = 30;
const PORTS_OF_WORLD = 400;
const PORTS_OF_HOST = 40;

export async function openWorld() {
  const dataDir = mkdtempSync(join(tmpdir(), 'crash-'));
  const queues = await startQueues();
  const platform = await openHostPlatform('');
  const engineOptions = { dataDir, insecureRegistry: platform.ecr.registry.host };
  let engine = await startEngine();
  const docker = new Dockerode({ socketPath: engine.socketPath });
  const web = await platform.publish(makeImage());
  const hosts: Host[] = [];
  let opened = 0;
  // By chance: others on this machine may have a world, too.
  const firstPort = FIRST_PORT + randomInt(WORLDS_MAX) * PORTS_OF_WORLD;

  async function startEngine() {
    const started = await startDocker(engineOptions);
    if ('unavailable' in started) throw new Error(`No container engine: ${started.unavailable}`);
    return started;
  }

  return {
    dataDir,
    docker,
    queues,
    platform,
    web,
    engine: () => engine,
    async openHost(options: HostOptions = {}): Promise<Host> {
      const from = firstPort + opened++ * PORTS_OF_HOST;
      const portRange = { from, to: from + PORTS_OF_HOST - 1 };
      const host = await openHost({ dataDir, docker, queues, platform, portRange, options });
      hosts.push(host);
      return host;
    },
    /** As after a reboot: the engine is there, and no process of before. */
    async reboot(): Promise<void> {
      await engine.stop();
      engine = await startEngine();
    },
    /** A container that somebody else has put on this machine, and that nobody may touch. */
    async openNeighbour(): Promise<() => Promise<object>> {
      const { repository, digest } = web;
      const { registry_host, username, password } = await platform.channel.pullCredentials([repository]);
      const reference = `${registry_host}/${repository}@${digest}`;
      const pull = await docker.pull(reference, {
        authconfig: { username, password, serveraddress: registry_host },
      });
      await new Promise((resolve, reject) => {
        docker.modem.followProgress(pull, (error) => (error ? reject(error) : resolve(undefined)));
      });
      const neighbour = await docker.createContainer({
        name: 'neighbour',
        Image: reference,
        Labels: { 'gpuaas.node': 'another', 'gpuaas.workload': 'another' },
        // A server as the first process would not heed SIGTERM, and the engine would wait for it.
        HostConfig: { Init: true },
      });
      await neighbour.start();
      return async () => {
        const { Id, Created, State } = await neighbour.inspect();
        return { Id, Created, Running: State.Running, StartedAt: State.StartedAt };
      };
    },
    /** Everything of this node that is on the machine. */
    rules: () => execFileSync('nft', ['list', 'ruleset'], { encoding: 'utf8' }),
    async close() {
      await Promise.all(hosts.map((host) => host.close()));
      await engine.stop();
      await platform.close();
      await queues.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;
