// A host as its agent sees it: a real engine of its own, the platform's registry, and a journal.

import { randomInt, randomUUID } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Dockerode from 'dockerode';
import {
  createPerformers,
  type EngineKind,
  type EnginePerformers,
} from '../../../agent/engine/performers.ts';
import type {
  Performer,
  TaskContext,
  WorkloadJournal,
  WorkloadRecord,
} from '../../../agent/tasks/performer.ts';
import {
  type Container,
  parseTask,
  TaskFrame,
  type Payload,
  type Task,
  type TaskResult,
} from '../../../functions/tasks/task.ts';
import { nameSubject, subjectOfTask } from '../../../functions/tasks/task-rules.ts';
import { startDocker } from '../../../lib/local/engines/docker.ts';
import * as v from 'valibot';
import { makeImage } from './busybox-image.ts';
import { openHostPlatform, type Published } from './platform.ts';

const HOUR_MS = 3600_000;
/** Below those that tests of other things take; who runs at the same time rarely draws the same ones. */
const PORTS = 50;
const FIRST_PORT = 14_000;
const RANGES = 120;

/** What a task may leave out is filled in when it is read. */
export type ContainerInput = v.InferInput<typeof Container>;

export async function openEngineWorld() {
  const dataDir = mkdtempSync(join(tmpdir(), 'agent-engine-'));
  const stateDir = join(dataDir, 'state');
  const nodeId = randomUUID();
  const platform = await openHostPlatform(nodeId);
  const engine = await startDocker({ dataDir, insecureRegistry: platform.ecr.registry.host });
  if ('unavailable' in engine) throw new Error(`No container engine: ${engine.unavailable}`);
  const docker = new Dockerode({ socketPath: engine.socketPath });
  const from = FIRST_PORT + randomInt(RANGES) * PORTS;
  const portRange = { from, to: from + PORTS - 1 };
  const journal = memoryJournal();
  const logged: string[] = [];
  const images = { web: await platform.publish(makeImage()) };
  let fence = 0;

  const openAgent = (): EnginePerformers =>
    createPerformers({
      docker: new Dockerode({ socketPath: engine.socketPath }),
      nodeId,
      journal,
      channel: platform.channel,
      stateDir,
      portRange,
      log: (level, message, about) => void logged.push(JSON.stringify({ level, message, ...about })),
      now: () => new Date(),
    });
  const agent = openAgent();

  /** As the platform writes it: what the schema does not let through is not tried here. */
  function taskOf<K extends EngineKind>(kind: K, payload: unknown, change: object = {}): Task<K> {
    fence += 1;
    const frame = v.parse(TaskFrame, {
      id: randomUUID(),
      node_id: nodeId,
      schema_version: 1,
      kind,
      subject: nameSubject(subjectOfTask(kind, payload as Payload)),
      fence,
      deadline_at: new Date(Date.now() + HOUR_MS).toISOString(),
      correlation_id: 'test',
      payload,
      ...change,
    });
    const parsed = parseTask(frame);
    if (!('task' in parsed)) throw new Error(parsed.detail);
    return parsed.task as Task<K>;
  }

  function perform<K extends EngineKind>(
    task: Task<K>,
    { by = agent, signal = new AbortController().signal, steps = [] as string[] } = {},
  ): Promise<TaskResult> {
    const ctx: TaskContext<K> = {
      task,
      signal,
      step: (name) => void steps.push(name),
      withOutcome: (write) => write(),
      now: () => new Date(),
      log: (level, message) => void logged.push(`${level} ${message}`),
    };
    return (by.performers[task.kind] as Performer<K>)(ctx);
  }

  const owner = () => ({
    workload_id: randomUUID(),
    allocation_id: randomUUID(),
    org_id: randomUUID(),
    project_id: randomUUID(),
    stop_grace_seconds: 2,
  });

  const ours = { label: [`gpuaas.node=${nodeId}`] };

  return {
    dataDir,
    stateDir,
    nodeId,
    platform,
    engine,
    docker,
    portRange,
    journal,
    logged,
    images,
    agent,
    /** The agent's next run: nothing but journal, state folder and engine is left of the one before. */
    openAgent,
    taskOf,
    perform,
    run: <K extends EngineKind>(kind: K, payload: unknown) => perform(taskOf(kind, payload)),
    /** A web server that answers when it is ready, changed as the test wants it. */
    container: (change: Partial<ContainerInput> = {}, image: Published = images.web): ContainerInput => ({
      name: 'main',
      ...image,
      ports: [{ container: 8080, host: 0 }],
      health: { kind: 'http', port: 8080, interval_seconds: 1, failures: 2, start_seconds: 20 },
      resources: { memory_mib: 64, pids: 64 },
      ...change,
    }),
    launchOf: (container: ContainerInput, change: object = {}): Payload<'oci.launch'> =>
      taskOf('oci.launch', { ...owner(), container, ...change }).payload,
    projectOf: (containers: ContainerInput[], change: object = {}): Payload<'compose.up'> =>
      taskOf('compose.up', { ...owner(), containers, ...change }).payload,
    inspect: (workloadId: string, component = 'main') =>
      docker.getContainer(`gpuaas-${workloadId}-${component}`).inspect(),
    /** Everything on the host that carries the node's label, and the files beside it. */
    async leftovers(): Promise<string[]> {
      const containers = await docker.listContainers({ all: true, filters: ours });
      const networks = await docker.listNetworks({ filters: ours });
      const { Volumes } = await docker.listVolumes();
      const secrets = `/run/gpuaas-agent/${nodeId}`;
      return [
        ...containers.map(({ Names }) => Names.join()),
        ...networks.map(({ Name }) => Name),
        ...(Volumes ?? []).map(({ Name }) => Name),
        ...(existsSync(secrets) ? readdirSync(secrets) : []),
        ...journal.listWorkloads().map(({ workload_id }) => `journal ${workload_id}`),
      ];
    },
    async close() {
      await engine.stop();
      await platform.close();
      const secrets = `/run/gpuaas-agent/${nodeId}`;
      if (existsSync(secrets)) execFileSync('umount', ['--lazy', secrets]);
      rmSync(secrets, { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
export type EngineWorld = Awaited<ReturnType<typeof openEngineWorld>>;

/** As durable as the test: it outlives the agents that are opened on it. */
function memoryJournal(): WorkloadJournal {
  const workloads = new Map<string, WorkloadRecord>();
  const fetches = new Map<string, string>();
  return {
    putWorkload: (record) => void workloads.set(record.workload_id, { ...record }),
    getWorkload: (id) => workloads.get(id),
    listWorkloads: () => [...workloads.values()],
    forgetWorkload: (id) => void workloads.delete(id),
    fetchIdOf(handle) {
      const id = fetches.get(handle) ?? randomUUID();
      fetches.set(handle, id);
      return id;
    },
  };
}

/** Its code and its words, when a task must fail. */
export async function failureOf(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; result?: TaskResult }> {
  try {
    await work;
  } catch (error) {
    return error as Error & { code: string; result?: TaskResult };
  }
  throw new Error('The task was expected to fail and did not.');
}
