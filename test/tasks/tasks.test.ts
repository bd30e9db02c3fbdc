import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { workloadKey } from '../../functions/nodes/keys.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { runSweep } from '../../functions/platform/workflow/sweep.ts';
import { taskSweep } from '../../functions/tasks/sweep-tasks.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { failed, openTaskScene, succeeded, type TaskScene } from './task-scene.ts';

let world: World;
let scene: Scene;
let tasks: TaskScene;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  tasks = openTaskScene(world, scene);
});
afterEach(() => vi.useRealTimers());
afterAll(() => world.close());

const sweep = () => runSweep(createContext(newId()), taskSweep);
const passSeconds = (seconds: number) =>
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });

describe('a task', () => {
  test('reaches the queue of its node with what the host needs and nothing else', async () => {
    const { host, task, workloadId } = await tasks.launched();
    expect(task).toMatchObject({
      kind: 'oci.launch',
      status: 'requested',
      fence: 1,
      subject: `workload:${workloadId}`,
    });
    await tasks.relay(task['id']);
    const frames = await tasks.received(host);
    expect(frames).toHaveLength(2);
    expect(frames[0]).toEqual(frames[1]);
    expect(frames[0]).toEqual({
      id: task['id'],
      node_id: host.id,
      schema_version: 1,
      kind: 'oci.launch',
      subject: task['subject'],
      fence: 1,
      deadline_at: task['deadline_at'],
      trust_revision: expect.any(Number) as number,
      correlation_id: task['correlation_id'],
      traceparent: expect.any(String) as string,
      payload: expect.objectContaining({ workload_id: workloadId }) as object,
    });
    expect(await tasks.show(host, task['id'])).toMatchObject({
      sent_at: expect.any(String) as string,
    });
  });

  test('of each kind is numbered by what it acts on, without gaps, also when many are asked for at once', async () => {
    const { host, workloadId } = await tasks.launched();
    const volume = { id: newId(), kind: 'persistent' };
    const all = await Promise.all([
      ...Array.from({ length: 5 }, () => tasks.ask(host, 'oci.status', { workload_id: workloadId })),
      ...Array.from({ length: 3 }, () => tasks.ask(host, 'volume.create', { project_id: newId(), volume })),
      tasks.ask(host, 'ssh_trust.reconcile', { user: 'gpu', owner_id: newId(), keys: [] }),
    ]);
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 202));
    const fencesOf = (subject: string) =>
      all
        .filter(({ body }) => body['subject'] === subject)
        .map(({ body }) => body['fence'] as number)
        .sort((a, b) => a - b);
    expect(fencesOf(`workload:${workloadId}`)).toEqual([2, 3, 4, 5, 6]);
    expect(fencesOf(`volume:${volume.id}`)).toEqual([1, 2, 3]);
    expect(fencesOf('ssh_trust:gpu')).toEqual([1]);
  });

  test('is refused where nothing could come of it', async () => {
    const { host, project, artifact, workloadId } = await tasks.launched();
    const launch = tasks.launchOf(artifact, project);
    const unregistered = { container: { ...launch.container, digest: `sha256:${'0'.repeat(64)}` } };
    const unverified = await scene.artifact(project, { app_slug: artifact.app_slug });
    const refusals = [
      [tasks.ask({ id: newId() }, 'oci.launch', launch), 'node.unknown'],
      [tasks.ask(host, 'oci.launch', { ...launch, ...unregistered }), 'task.image_unknown'],
      [tasks.ask(host, 'oci.launch', tasks.launchOf(unverified, project)), 'task.image_unknown'],
      [tasks.ask(host, 'oci.remove', { workload_id: newId() }), 'workload.unknown'],
      [tasks.ask(host, 'compose.down', { workload_id: workloadId }), 'workload.other_engine'],
      [tasks.ask(host, 'oci.launch', { ...launch, workload_id: workloadId }), 'workload.exists'],
      [tasks.ask(host, 'oci.launch', { workload_id: workloadId }), 'request.invalid'],
      [tasks.ask(host, 'oci.reboot', {}), 'request.invalid'],
      [
        tasks.ask(host, 'oci.launch', { ...launch, container: { ...launch.container, privileged: true } }),
        'request.invalid',
      ],
    ] as const;
    for (const [answer, code] of refusals) expect((await answer).body).toMatchObject({ code });
  });

  test('that is too large for the queue is refused', async () => {
    const { host, project, artifact } = await tasks.launched();
    const { container, ...launch } = tasks.launchOf(artifact, project);
    const env = Array.from({ length: 30 }, (_, index) => ({ name: `V${index}`, value: 'x'.repeat(8000) }));
    const { body } = await tasks.ask(host, 'oci.launch', { ...launch, container: { ...container, env } });
    expect(body).toMatchObject({ code: 'task.too_large' });
  });

  test('is listed by age, and shown without the handles of its secrets', async () => {
    const { host, project, artifact } = await tasks.launched();
    const { container, ...launch } = tasks.launchOf(artifact, project);
    const handle = 'h'.repeat(43);
    const secrets = [{ handle, path: '/run/secrets/token' }];
    await tasks.ask(host, 'oci.launch', { ...launch, container: { ...container, secrets } });
    const { token } = await scene.platformAdmin();
    const list = async (query: Record<string, string>) =>
      world.call('GET /api/v1/admin/nodes/{node_id}/tasks', { params: { node_id: host.id }, query, token });
    const first = await list({ limit: '1' });
    const pageOf = ({ body }: typeof first) => body as { items: { id: string }[]; next_cursor: string };
    const { items, next_cursor } = pageOf(first);
    const second = await list({ limit: '1', cursor: next_cursor });
    const [next] = pageOf(second).items;
    expect(items[0]?.id && next?.id && items[0].id < next.id).toBe(true);
    expect(second.text).toContain('/run/secrets/token');
    expect(second.text).not.toContain(handle);
    expect((await list({ cursor: 'x' })).status).toBe(400);
  });

  test('is seen by nobody but the platform', async () => {
    const { task, host } = await tasks.launched();
    const { admin } = await scene.place();
    const params = { node_id: host.id, task_id: task['id'] as string };
    const route = 'GET /api/v1/admin/nodes/{node_id}/tasks/{task_id}';
    expect((await world.call(route, { params, token: admin.token })).status).toBe(403);
    expect((await world.call(route, { params, token: host.token })).status).toBe(403);
    const { token } = await scene.platformAdmin();
    expect((await world.call(route, { params, token })).body).toEqual(await tasks.show(host, task['id']));
    const elsewhere = { ...params, node_id: (await tasks.host()).id };
    expect((await world.call(route, { params: elsewhere, token })).body).toMatchObject({
      code: 'task.unknown',
    });
  });
});

describe('a host tells of its task', () => {
  const progress = (fence: number, step = 'pull') => ({
    status: 'running',
    fence,
    step,
    at: new Date().toISOString(),
  });
  const tell = (host: Awaited<ReturnType<TaskScene['host']>>, taskId: string, body: object, as?: string) =>
    tasks.say(host, 'POST /tasks/{task_id}/progress', {
      params: { task_id: taskId },
      body,
      ...(as && { as }),
    });

  test('how far it has come, by one write', async () => {
    const { host, task } = await tasks.launched();
    await tell(host, task['id'], progress(1));
    const before = world.requests();
    expect((await tell(host, task['id'], progress(1, 'start'))).status).toBe(200);
    expect(world.requests() - before).toBe(1);
    expect(await tasks.show(host, task['id'])).toMatchObject({ status: 'running', step: 'start' });
  });

  test('under its own number, and nothing once it has ended', async () => {
    const { host, task } = await tasks.launched();
    expect((await tell(host, task['id'], progress(2))).body).toMatchObject({ code: 'task.fenced' });
    await tasks.end(host, task['id'], succeeded(1));
    expect((await tell(host, task['id'], progress(1))).status).toBe(200);
    expect(await tasks.show(host, task['id'])).toMatchObject({ status: 'succeeded' });
    expect((await tell(host, newId(), progress(1))).body).toMatchObject({ code: 'task.unknown' });
  });

  test('and never of another’s: that is refused, audited and told', async () => {
    const { host, task } = await tasks.launched();
    const thief = await tasks.host();
    const { text } = await tell(thief, task['id'], progress(1));
    const ended = await tasks.end(thief, task['id'], succeeded(1));
    const unknown = await tasks.end(thief, newId(), succeeded(1));
    expect([text, ended.text].map((each) => JSON.parse(each) as { code: string })).toMatchObject([
      { code: 'task.unknown' },
      { code: 'task.unknown' },
    ]);
    expect(ended.status).toBe(unknown.status);
    expect(await tasks.show(host, task['id'])).toMatchObject({ status: 'requested' });
    const told = await tasks.eventsAbout(thief.id, 'platform.node.foreign_request_refused');
    expect(told.map(({ data }) => data)).toEqual(
      ['progress', 'outcome'].map((verb) => ({
        node_id: thief.id,
        route: `POST /api/v1/nodes/{node_id}/tasks/{task_id}/${verb}`,
        asked: `task:${task['id']}`,
      })),
    );
    const audits = await tasks.auditsAbout(`node:${thief.id}`);
    expect(audits.filter(({ action }) => action !== 'identity.node_token.issue')).toMatchObject(
      ['nodes.task.progress', 'nodes.task.end'].map((action) => ({ action, subject: `task:${task['id']}` })),
    );
    expect((await tell(thief, task['id'], progress(1), host.id)).body).toMatchObject({
      code: 'node.unknown',
    });
  });
});

describe('an outcome', () => {
  test('ends the task once: repeated it is heard, and changes nothing', async () => {
    const { host, task, workloadId } = await tasks.launched();
    const containers = [{ name: 'app', state: 'ready' }];
    const first = await tasks.end(host, task['id'], succeeded(1, { containers }));
    expect(first).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    const kept = await world.get(workloadKey(host.id, workloadId));
    expect(kept).toMatchObject({ desired: 'present', status: { state: 'ready', fence: 1 } });
    const again = await tasks.end(host, task['id'], failed(1, 'exited'));
    expect(again).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await world.get(workloadKey(host.id, workloadId))).toEqual(kept);
    const ended = await tasks.eventsAbout(task['id'], 'platform.node.task_ended');
    expect(ended.map(({ data }) => data)).toMatchObject([
      { status: 'succeeded', late: false, workload_id: workloadId },
    ]);
    expect(await tasks.show(host, task['id'])).toMatchObject({
      result: { containers: [{ name: 'app' }] },
    });
  });

  test('is one of many that come at the same moment', async () => {
    const { host, task } = await tasks.launched();
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => tasks.end(host, task['id'], succeeded(1))),
      ...Array.from({ length: 4 }, () => tasks.end(host, task['id'], failed(1, 'exited'))),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(new Set(answers.map(({ body }) => body['status'] as string)).size).toBe(1);
    expect(await tasks.eventsAbout(task['id'], 'platform.node.task_ended')).toHaveLength(1);
  });

  test('under another number is refused', async () => {
    const { host, task } = await tasks.launched();
    expect((await tasks.end(host, task['id'], succeeded(2))).body).toMatchObject({ code: 'task.fenced' });
  });

  test('of a launch that was refused leaves nothing to remove; of one that failed it does', async () => {
    const one = await tasks.launched();
    await tasks.end(one.host, one.task['id'], failed(1, 'disk_full', 'refused'));
    expect(await world.get(workloadKey(one.host.id, one.workloadId))).toBeUndefined();
    const other = await tasks.launched();
    await tasks.end(other.host, other.task['id'], failed(1, 'not_ready_in_time'));
    expect(await world.get(workloadKey(other.host.id, other.workloadId))).toMatchObject({
      desired: 'present',
      status: { state: 'failed', detail: 'It did not work.' },
    });
    expect(await tasks.eventsAbout(other.workloadId, 'platform.node.workload_changed')).toHaveLength(1);
  });

  test('that comes after nobody waited any more is recorded, and what was done counts', async () => {
    const { host, task, workloadId } = await tasks.launched();
    await tasks.end(host, task['id'], succeeded(1));
    const { body: removal } = await tasks.ask(
      host,
      'oci.remove',
      { workload_id: workloadId },
      { deadline_seconds: 10 },
    );
    passSeconds(71);
    await world.indexed();
    await sweep();
    await sweep();
    vi.useRealTimers();
    expect(await tasks.show(host, removal['id'])).toMatchObject({
      status: 'failed',
      code: 'deadline_passed',
    });
    expect(await world.get(workloadKey(host.id, workloadId))).toMatchObject({ desired: 'absent' });
    const late = succeeded(2, await tasks.receiptOf(host, { id: removal['id'], workload_id: workloadId }));
    for (const outcome of [late, late])
      expect(await tasks.end(host, removal['id'], outcome)).toMatchObject({
        status: 200,
        body: { status: 'failed' },
      });
    expect(await world.get(workloadKey(host.id, workloadId))).toBeUndefined();
    const ended = await tasks.eventsAbout(removal['id'], 'platform.node.task_ended');
    expect(ended.map(({ data }) => data)).toMatchObject([
      { status: 'failed', code: 'deadline_passed', late: false },
      { status: 'succeeded', late: true },
    ]);
  });
});

describe('a workload', () => {
  const removal = async () => {
    const launched = await tasks.launched();
    await tasks.end(launched.host, launched.task['id'], succeeded(1));
    const { workloadId: workload_id } = launched;
    const { body } = await tasks.ask(launched.host, 'oci.remove', { workload_id });
    return { ...launched, removal: { id: body['id'] as string, workload_id } };
  };

  test('is gone when the host has proved it, and nothing can be asked about it then', async () => {
    const { host, removal: task, workloadId } = await removal();
    await tasks.end(host, task.id, succeeded(2, await tasks.receiptOf(host, task)));
    expect(await world.get(workloadKey(host.id, workloadId))).toBeUndefined();
    expect((await tasks.ask(host, 'oci.status', { workload_id: workloadId })).body).toMatchObject({
      code: 'workload.unknown',
    });
    expect(await tasks.show(host, task.id)).toMatchObject({
      status: 'succeeded',
      result: { receipt: { remaining: [] }, receipt_signature: expect.any(String) as string },
    });
  });

  test.each([
    ['no receipt', async () => ({})],
    [
      'one that another host signed',
      async (host: Parameters<TaskScene['receiptOf']>[0], task: { id: string; workload_id: string }) =>
        tasks.receiptOf(host, task, {}, await tasks.host()),
    ],
    [
      'one that was changed after it was signed',
      async (host: Parameters<TaskScene['receiptOf']>[0], task: { id: string; workload_id: string }) => {
        const { receipt, receipt_signature } = await tasks.receiptOf(host, task, { remaining: ['c1'] });
        return { receipt: { ...receipt, remaining: [] }, receipt_signature };
      },
    ],
    [
      'one of another task',
      (host: Parameters<TaskScene['receiptOf']>[0], { workload_id }: { workload_id: string }) =>
        tasks.receiptOf(host, { id: newId(), workload_id }),
    ],
    [
      'one of another workload',
      (host: Parameters<TaskScene['receiptOf']>[0], { id }: { id: string }) =>
        tasks.receiptOf(host, { id, workload_id: newId() }),
    ],
    [
      'one that names leftovers',
      (host: Parameters<TaskScene['receiptOf']>[0], task: { id: string; workload_id: string }) =>
        tasks.receiptOf(host, task, { remaining: ['a volume'] }),
    ],
  ])('is not gone with %s', async (_what, proof) => {
    const { host, removal: task, workloadId } = await removal();
    const answer = await tasks.end(host, task.id, succeeded(2, await proof(host, task)));
    expect(answer).toMatchObject({ status: 200, body: { status: 'failed' } });
    expect(await world.get(workloadKey(host.id, workloadId))).toMatchObject({ desired: 'absent' });
    expect(await tasks.show(host, task.id)).toMatchObject({ code: 'left_behind' });
  });

  test('that is to go is neither launched nor controlled any more, but removed again', async () => {
    const { host, project, artifact, workloadId, task } = await removal();
    const launch = { ...tasks.launchOf(artifact, project), ...(task['payload'] as object) };
    expect((await tasks.ask(host, 'oci.launch', launch)).body).toMatchObject({ code: 'workload.leaving' });
    const control = { workload_id: workloadId, action: 'start' };
    expect((await tasks.ask(host, 'oci.control', control)).body).toMatchObject({ code: 'workload.leaving' });
    const { body } = await tasks.ask(host, 'oci.remove', { workload_id: workloadId });
    expect(body).toMatchObject({ fence: 3 });
  });

  test('is listed for its host and for no other', async () => {
    const { host, workloadId, task } = await tasks.launched();
    const other = await tasks.host();
    expect((await tasks.say(host, 'GET /workloads')).body).toEqual({
      items: [
        {
          workload_id: workloadId,
          allocation_id: task['allocation_id'],
          project_id: expect.any(String) as string,
          desired: 'present',
          fence: 1,
        },
      ],
      next_cursor: null,
    });
    expect((await tasks.say(other, 'GET /workloads')).body).toEqual({ items: [], next_cursor: null });
    expect((await tasks.say(other, 'GET /workloads', { as: host.id })).body).toMatchObject({
      code: 'node.unknown',
    });
  });
});

describe('what a host says of a workload by itself', () => {
  const status = (fence: number, state: string, at = new Date().toISOString()) => ({
    fence,
    at,
    state,
    containers: [{ name: 'app', state: state === 'ready' ? 'ready' : 'restarting' }],
  });
  const tell = (host: Parameters<TaskScene['end']>[0], workload_id: string, body: object) =>
    tasks.say(host, 'POST /workloads/{workload_id}/status', { params: { workload_id }, body });

  test('is kept and told when it is news, and an earlier word changes nothing', async () => {
    const { host, workloadId } = await tasks.launched();
    const before = new Date(Date.now() - 10_000).toISOString();
    await tell(host, workloadId, status(1, 'degraded'));
    await tell(host, workloadId, status(1, 'ready', before));
    expect(await world.get(workloadKey(host.id, workloadId))).toMatchObject({
      status: { state: 'degraded' },
    });
    const told = await tasks.eventsAbout(workloadId, 'platform.node.workload_changed');
    expect(told.map(({ data }) => data)).toMatchObject([{ node_id: host.id, state: 'degraded' }]);
  });

  test('is not believed under a number that was passed or never given out', async () => {
    const { host, task, workloadId } = await tasks.launched();
    expect((await tell(host, workloadId, status(2, 'ready'))).body).toMatchObject({
      code: 'workload.fenced',
    });
    await tasks.end(host, task['id'], succeeded(1));
    await tasks.ask(host, 'oci.control', { workload_id: workloadId, action: 'restart' });
    expect((await tell(host, workloadId, status(2, 'ready'))).status).toBe(200);
    expect((await tell(host, workloadId, status(1, 'failed'))).body).toMatchObject({
      code: 'workload.fenced',
    });
    const other = await tasks.host();
    expect((await tell(other, workloadId, status(2, 'ready'))).body).toMatchObject({
      code: 'workload.unknown',
    });
  });
});

describe('the sweep', () => {
  test('sends what was never sent, and only that', async () => {
    const { host, task } = await tasks.launched();
    await world.indexed();
    await sweep();
    expect(await tasks.received(host)).toEqual([]);
    passSeconds(61);
    await sweep();
    await sweep();
    vi.useRealTimers();
    expect((await tasks.received(host)).map(({ id }) => id)).toEqual([task['id']]);
  });

  test('leaves a task alone until a minute after its deadline, and one that was answered for good', async () => {
    const { host, workloadId } = await tasks.launched();
    const { body: task } = await tasks.ask(
      host,
      'oci.status',
      { workload_id: workloadId },
      { deadline_seconds: 10 },
    );
    const { body: done } = await tasks.ask(
      host,
      'oci.status',
      { workload_id: workloadId },
      { deadline_seconds: 10 },
    );
    await tasks.end(host, done['id'], succeeded(3));
    await world.indexed();
    passSeconds(65);
    await sweep();
    expect(await tasks.show(host, task['id'])).toMatchObject({ status: 'requested' });
    vi.useRealTimers();
    passSeconds(75);
    await sweep();
    vi.useRealTimers();
    expect(await tasks.show(host, task['id'])).toMatchObject({
      status: 'failed',
      code: 'deadline_passed',
    });
    expect(await tasks.show(host, done['id'])).toMatchObject({ status: 'succeeded' });
  });
});
