// Hosts as tasks need them: enrolled, with a key, a token and a queue of their own.

import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { importPKCS8, SignJWT } from 'jose';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import type { Project } from '../../functions/identity/project.ts';
import { makeKeyPair } from '../../functions/identity/service-account-key-pair.ts';
import { nodeKey, queueNameOf } from '../../functions/nodes/keys.ts';
import { handler as reactToEvents } from '../../functions/nodes/react-to-events.ts';
import { type TaskView, viewTask } from '../../functions/nodes/task-row.ts';
import { findTask } from '../../functions/nodes/task-store.ts';
import type { Receipt, TaskFrame } from '../../functions/nodes/task.ts';
import { nodePrincipalKey } from '../../functions/platform/data/keys.ts';
import type { PlatformEvent } from '../../functions/platform/events.ts';
import { newId } from '../../functions/platform/ids.ts';
import { repositoryKey } from '../../functions/storage/keys.ts';
import type { Body } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Answer, World } from '../api/world.ts';
import { react } from '../react.ts';

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

  /** As enrolment leaves it. */
  async function host(): Promise<Host> {
    const id = newId();
    const at = new Date().toISOString();
    const { publicJwk, privateKeyPem } = makeKeyPair();
    const key = await importPKCS8(privateKeyPem, 'ES256');
    const QueueName = queueNameOf(id);
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName }));
    await world.put({
      ...nodeKey(id),
      id,
      name: 'A host',
      labels: {},
      status: 'ready',
      placement: 'open',
      queue_url: QueueUrl,
      port_range: { from: 20_000, to: 29_999 },
      status_at: at,
      enrolled_at: at,
      created_by: 'user:somebody',
      created_at: at,
      version: 1,
    });
    await world.put({
      ...nodePrincipalKey(id),
      id,
      status: 'active',
      public_key_jwk: publicJwk,
      thumbprint: id,
      join_token_hash: '',
      join_expires_at: at,
      version: 1,
    });
    const sign = (payload: object, header: object = {}): Promise<string> =>
      new SignJWT({ ...payload }).setProtectedHeader({ alg: 'ES256', kid: id, ...header }).sign(key);
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: id,
      sub: id,
      aud: 'https://api.example.test',
      iat: now,
      exp: now + 60,
      jti: newId(),
    };
    const { body } = await world.call('POST /api/v1/auth/node/token', {
      body: { assertion: await sign(claims) },
    });
    return { id, token: (body as Body)['access_token'], queueUrl: QueueUrl, sign };
  }

  /** An image that is registered and verified, in the repository of its project. */
  async function image(of: Project, stated: Partial<Artifact> = {}): Promise<Artifact> {
    const artifact = await scene.artifact(of, { trust_state: 'verified', ...stated });
    const { repository: name, org_id, project_id, app_slug } = artifact;
    const open_until = new Date().toISOString();
    await world.put({ ...repositoryKey(name), name, org_id, project_id, app_slug, open_until });
    return artifact;
  }

  function launchOf({ repository, digest }: Artifact, { id, org_id }: Project, stated: object = {}) {
    return {
      workload_id: newId(),
      allocation_id: newId(),
      org_id,
      project_id: id,
      container: { name: 'app', repository, digest },
      ...stated,
    };
  }

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
        new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
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
