// Hosts as tasks need them: enrolled, with a key, a token and a queue of their own.

import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { importPKCS8, SignJWT } from 'jose';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import type { Project } from '../../functions/identity/project.ts';
import { openQueue } from '../../functions/nodes/node-queue.ts';
import type { PlatformEvent } from '../../functions/platform/events.ts';
import { newId } from '../../functions/platform/ids.ts';
import { handler as reactToEvents } from '../../functions/tasks/react-to-events.ts';
import { type TaskView, viewTask } from '../../functions/tasks/task-row.ts';
import { findTask } from '../../functions/tasks/task-store.ts';
import type { Receipt, TaskFrame } from '../../functions/tasks/task.ts';
import type { Body } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Answer, World } from '../api/world.ts';
import { react } from '../react.ts';
import { addImage, launchOf } from './launched.ts';

const TASKS = '/api/v1/admin/nodes/{node_id}/tasks';
const OWN = '/api/v1/nodes/{node_id}';

export interface Host {
  id: string;
  token: string;
  queueUrl: string;
  sign(payload: object, header?: object): Promise<string>;
}

type Told = Answer & { body: Body };

export function openTaskScene(world: World, scene: Scene) {
  const sqs = new SQSClient(world.services.asOperator());

  /** A node that has joined, with its queue. */
  async function host(): Promise<Host> {
    const node = await scene.node();
    const key = await importPKCS8(node.private_key_pem, 'ES256');
    return {
      id: node.id,
      token: await scene.nodeToken(node),
      queueUrl: await openQueue(node.id),
      sign: (payload, header = {}) =>
        new SignJWT({ ...payload }).setProtectedHeader({ alg: 'ES256', kid: node.id, ...header }).sign(key),
    };
  }

  const image = (of: Project, stated: Partial<Artifact> = {}) => addImage(scene, of, stated);

  async function ask(
    { id }: { id: string },
    kind: string,
    payload: object,
    more: object = {},
  ): Promise<Told> {
    const { token } = await scene.platformAdmin();
    return (await world.call(`POST ${TASKS}`, {
      params: { node_id: id },
      body: { kind, payload, ...more },
      token,
      headers: { 'x-idempotency-key': newId() },
    })) as Told;
  }

  /** As an operator is shown it; by no call, because operators may not call without end. */
  async function show({ id }: { id: string }, taskId: string): Promise<TaskView> {
    const { task, outcome } = await findTask(id, taskId);
    return viewTask(task, outcome);
  }

  /** The host speaks for itself. */
  const say = async (
    { id, token }: Host,
    route: `${'GET' | 'POST'} ${string}`,
    { params = {}, body, as = id }: { params?: Record<string, string>; body?: object; as?: string } = {},
  ): Promise<Told> => {
    const [method, path = ''] = route.split(' ');
    return (await world.call(`${method} ${OWN}${path}`, {
      params: { node_id: as, ...params },
      ...(body && { body }),
      token,
    })) as Told;
  };

  const end = (from: Host, taskId: string, outcome: object): Promise<Told> =>
    say(from, 'POST /tasks/{task_id}/outcome', { params: { task_id: taskId }, body: outcome });

  /** What a host that has removed everything says. */
  async function receiptOf(
    by: Host,
    task: { id: string; workload_id?: string },
    stated: Partial<Receipt> = {},
    signer: Host = by,
  ): Promise<{ receipt: Receipt; receipt_signature: string }> {
    const receipt: Receipt = {
      workload_id: task.workload_id ?? newId(),
      task_id: task.id,
      node_id: by.id,
      removed: { containers: ['c1'], networks: ['n1'], volumes: [], paths: [] },
      kept: { volumes: [] },
      remaining: [],
      checked_at: new Date().toISOString(),
      ...stated,
    };
    return { receipt, receipt_signature: await signer.sign(receipt, { kid: by.id }) };
  }

  const eventsAbout = async (text: string, type?: string): Promise<PlatformEvent[]> =>
    (await world.items('OUTBOX#'))
      .map(({ event }) => event as PlatformEvent)
      .filter((event) => JSON.stringify(event).includes(text) && (!type || event.type === type));

  const auditsAbout = async (text: string): Promise<Body[]> =>
    (await world.items('AUDIT#')).filter((row) => JSON.stringify(row).includes(text));

  return {
    host,
    image,
    launchOf,
    ask,
    show,
    say,
    end,
    receiptOf,
    eventsAbout,
    auditsAbout,
    /** A workload that is launched on a new host, as far as the platform knows. */
    async launched() {
      const [{ project }, by] = [await scene.place(), await host()];
      const artifact = await image(project);
      const { body: task } = await ask(by, 'oci.launch', launchOf(artifact, project));
      return { project, host: by, artifact, task, workloadId: task['workload_id'] as string };
    },
    /** What the relay leads to, twice. */
    async relay(taskId: string): Promise<void> {
      const told = await eventsAbout(taskId, 'platform.node.task_requested');
      await react(reactToEvents, ...told, ...told);
    },
    async received({ queueUrl }: Host): Promise<TaskFrame[]> {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }),
      );
      return Messages.map(({ Body }) => JSON.parse(Body ?? '') as TaskFrame);
    },
  };
}

export type TaskScene = ReturnType<typeof openTaskScene>;

export const succeeded = (fence: number, result: object = {}) => ({
  status: 'succeeded',
  fence,
  at: new Date().toISOString(),
  result,
});

export const failed = (fence: number, code: string, status = 'failed') => ({
  status,
  fence,
  at: new Date().toISOString(),
  code,
  detail: 'It did not work.',
});
