// One node: its agent as a process of its own, its queue, and the routes of the platform it speaks to.

import { execFileSync } from 'node:child_process';
import { createPublicKey, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type Dockerode from 'dockerode';
import { Config } from '../../../agent/config/config.ts';
import { ensureStateDir, writeConfig } from '../../../agent/config/config-file.ts';
import { ensureNodeKey } from '../../../agent/platform/node-key.ts';
import type { WorkloadStatus } from '../../../functions/tasks/agent-api.ts';
import { nameSubject, subjectOfTask } from '../../../functions/tasks/task-rules.ts';
import type { Outcome, Payload, TaskFrame, TaskKind } from '../../../functions/tasks/task.ts';
import { sqs } from '../../../functions/platform/clients.ts';
import * as v from 'valibot';
import type { Queues } from '../../queues.ts';
import { until } from '../../until.ts';
import type { openHostPlatform } from '../engine/platform.ts';
import { problem, startSmallPlatform } from '../small-platform.ts';
import { AgentProcess } from './agent-process.ts';

const HOUR_MS = 3600_000;

export interface HostOptions {
  isLaunched?: boolean;
  passwd?: string;
  tasksMax?: number;
}

interface HostParts {
  dataDir: string;
  docker: Dockerode;
  queues: Queues;
  platform: Awaited<ReturnType<typeof openHostPlatform>>;
  portRange: { from: number; to: number };
  options: HostOptions;
}

export async function openHost({ dataDir, docker, queues, platform, portRange, options }: HostParts) {
  const { isLaunched, passwd, tasksMax = 16 } = options;
  const folder = mkdtempSync(join(dataDir, 'host-'));
  const stateDir = join(folder, 'state');
  const nodeId = randomUUID();
  const http = await startSmallPlatform(nodeId);
  mkdirSync(folder, { recursive: true });
  ensureStateDir(stateDir);
  http.state.nodeKey = createPublicKey(ensureNodeKey(stateDir));
  const queueUrl = await queues.create(`gpuaas-node-${nodeId}`, { VisibilityTimeout: '120' });
  const outcomes = new Map<string, Outcome[]>();
  const told = new Map<string, WorkloadStatus[]>();
  const fences = new Map<string, number>();
  let heartbeats = 0;

  writeConfig(
    stateDir,
    v.parse(Config, {
      url: http.url,
      node_id: nodeId,
      name: 'host',
      region: 'us-east-1',
      registry_host: platform.ecr.registry.host,
      host_key: http.hostKey,
      heartbeat_seconds: 60,
      port_range: portRange,
      docker_socket: (docker.modem as { socketPath?: string }).socketPath,
      tasks_max: tasksMax,
    }),
  );

  const later = () => new Date(Date.now() + HOUR_MS).toISOString();
  http.on(`POST ${http.at('/heartbeat')}`, () => {
    heartbeats += 1;
    return { body: { heartbeat_seconds: 60 } };
  });
  http.on(`PUT ${http.at('/inventory')}`, () => ({ body: {} }));
  http.on(`POST ${http.at('/queue-credentials')}`, () => ({
    body: {
      queue_url: queueUrl,
      region: 'us-east-1',
      access_key_id: 'a',
      secret_access_key: 'b',
      session_token: 'c',
      expires_at: later(),
    },
  }));
  http.on(`POST ${http.at('/pull-credentials')}`, async ({ body }) => {
    const { repositories } = body as { repositories: string[] };
    return { body: { ...(await platform.channel.pullCredentials(repositories)), expires_at: later() } };
  });
  http.on(`GET ${http.at('/trust')}`, async () => {
    const iat = Math.floor(Date.now() / 1000);
    const policy = { ...(await platform.channel.trust(0)), node_id: nodeId, iat, exp: iat + 3600 };
    return { body: { document: await http.signed(policy) } };
  });
  http.on(`POST ${http.at('/secrets')}`, async ({ body }) => {
    const { handle, fetch_id } = body as { handle: string; fetch_id: string };
    const value = await platform.channel.secret(handle, fetch_id).catch(() => undefined);
    return value
      ? { body: { value: Buffer.from(value).toString('base64') } }
      : problem(404, 'secret.unknown');
  });

  const agent = new AgentProcess({
    stateDir,
    ...(isLaunched !== undefined && { isLaunched }),
    ...(passwd !== undefined && { passwd }),
  });
  const secretsDir = `/run/gpuaas-agent/${nodeId}`;

  /** The next one of its subject, unless it is told which. */
  function taskOf(
    kind: TaskKind,
    workloadId: string,
    payload: object,
    change: Partial<TaskFrame> = {},
  ): TaskFrame {
    const subject = nameSubject(subjectOfTask(kind, payload as Payload));
    const fence = (fences.get(subject) ?? 0) + 1;
    fences.set(subject, fence);
    const task = {
      id: randomUUID(),
      node_id: nodeId,
      schema_version: 1,
      kind,
      subject,
      fence,
      deadline_at: later(),
      trust_revision: platform.state.revision,
      correlation_id: 'a-test',
      payload,
      ...change,
    };
    const answered: Outcome[] = [];
    outcomes.set(task.id, answered);
    http.on(`POST ${http.at(`/tasks/${task.id}/outcome`)}`, ({ body }) => {
      answered.push(body as Outcome);
      return {};
    });
    http.on(`POST ${http.at(`/tasks/${task.id}/progress`)}`, () => ({}));
    http.on(`POST ${http.at(`/workloads/${workloadId}/status`)}`, ({ body }) => {
      told.set(workloadId, [...(told.get(workloadId) ?? []), body as WorkloadStatus]);
      return {};
    });
    return task;
  }

  const send = async (tasks: TaskFrame[]): Promise<void> => {
    for (const task of tasks)
      await sqs().send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(task) }));
  };
  const outcomesOf = ({ id }: TaskFrame): Outcome[] => outcomes.get(id) ?? [];
  const ours = { label: [`gpuaas.node=${nodeId}`] };

  return {
    nodeId,
    stateDir,
    folder,
    http,
    agent,
    portRange,
    taskOf,
    send,
    outcomesOf,
    told: (workloadId: string): WorkloadStatus[] => told.get(workloadId) ?? [],
    heartbeats: () => heartbeats,
    /** Sent, carried out and answered. */
    async run(tasks: TaskFrame[], secondsMax = 60): Promise<Outcome[]> {
      await send(tasks);
      return until(
        () =>
          tasks.every((task) => outcomesOf(task).length > 0) &&
          tasks.flatMap((task) => outcomesOf(task)[0] ?? []),
        `the outcome of ${tasks.map(({ kind }) => kind).join()}`,
        secondsMax,
      );
    },
    containers: () => docker.listContainers({ all: true, filters: ours }),
    /** Everything on the machine that carries the node's label, and the files beside it. */
    async leftovers(): Promise<string[]> {
      const containers = await docker.listContainers({ all: true, filters: ours });
      const networks = await docker.listNetworks({ filters: ours });
      const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(ours) as never });
      return [
        ...containers.map(({ Names }) => Names.join()),
        ...networks.map(({ Name }) => Name),
        ...(Volumes ?? []).map(({ Name }) => Name),
        ...(existsSync(secretsDir) ? readdirSync(secretsDir) : []),
      ];
    },
    async close() {
      await agent.end('SIGKILL');
      await http.stop();
      if (existsSync(secretsDir)) {
        try {
          execFileSync('umount', ['--lazy', secretsDir], { stdio: 'ignore' });
        } catch {
          // It was never mounted: no workload had a secret.
        }
        rmSync(secretsDir, { recursive: true, force: true });
      }
    },
  };
}

export type Host = Awaited<ReturnType<typeof openHost>>;
