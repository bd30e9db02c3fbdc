import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { commit } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { planSecret } from '../../functions/tasks/plan-secret.ts';
import { judgeFetch, type KeptSecret } from '../../functions/tasks/secret.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { type Host, openTaskScene, succeeded, type TaskScene } from './task-scene.ts';

let world: World;
let scene: Scene;
let tasks: TaskScene;
let host: Host;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  tasks = openTaskScene(world, scene);
});
beforeEach(async () => {
  host = await tasks.host();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
afterAll(() => world.close());

const PLANTED = 'correct-horse-battery-staple';
const inBase64 = Buffer.from(PLANTED).toString('base64');

async function keep(node_id = host.id, seconds = 600): Promise<string> {
  const ctx = { newId, now: () => new Date() };
  const { handle, writes } = planSecret(ctx, { node_id, value: Buffer.from(PLANTED), seconds });
  await commit(writes);
  return handle;
}

const fetchAs = (by: Host, handle: string, fetch_id = newId()) =>
  tasks.say(by, 'POST /secrets', { body: { handle, fetch_id } });

describe('a secret', () => {
  test('is given to its host once, and again to the same fetch, as an answer can be lost', async () => {
    const [handle, fetchId] = [await keep(), newId()];
    for (let time = 0; time < 2; time += 1)
      expect(await fetchAs(host, handle, fetchId)).toMatchObject({ status: 200, body: { value: inBase64 } });
    expect(await fetchAs(host, handle)).toMatchObject({ status: 409, body: { code: 'secret.fetched' } });
    const told = await tasks.eventsAbout(host.id, 'platform.node.secret_refused');
    expect(told.map(({ data }) => data)).toMatchObject([{ reason: 'fetched' }]);
    const audits = await tasks.auditsAbout((told[0]?.data['secret_id'] as string) ?? '');
    expect(audits.map(({ action, after }) => [action, (after as { refused?: string }).refused])).toEqual([
      ['nodes.secret.fetch', undefined],
      ['nodes.secret.fetch', undefined],
      ['nodes.secret.fetch', 'fetched'],
    ]);
  });

  test('is given to one of many that ask at the same moment', async () => {
    const handle = await keep();
    const answers = await Promise.all(Array.from({ length: 6 }, () => fetchAs(host, handle)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body['code'] === 'secret.fetched')).toHaveLength(5);
  });

  test('is as unknown to another host as one that never was, and that it asked is told', async () => {
    const [handle, thief] = [await keep(), await tasks.host()];
    const [stolen, invented] = [await fetchAs(thief, handle), await fetchAs(thief, 'x'.repeat(43))];
    const correlation_id = expect.any(String) as string;
    expect(stolen).toMatchObject({ status: invented.status, body: { ...invented.body, correlation_id } });
    expect(stolen.body).toMatchObject({ code: 'secret.unknown' });
    const told = await tasks.eventsAbout(thief.id, 'platform.node.secret_refused');
    expect(told.map(({ data }) => data)).toMatchObject([{ node_id: thief.id, reason: 'foreign' }]);
    expect((await fetchAs(host, handle)).status).toBe(200);
  });

  test('is over when its time is', async () => {
    const handle = await keep(host.id, 60);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    expect((await fetchAs(host, handle)).body).toMatchObject({ code: 'secret.expired' });
  });

  test('that is too large for an answer is not kept', () => {
    const ctx = { newId, now: () => new Date() };
    const value = Buffer.alloc(48 * 1024 + 1);
    expect(() => planSecret(ctx, { node_id: host.id, value, seconds: 60 })).toThrow('at most');
  });

  const KEPT: KeptSecret = {
    secret_id: 's',
    node_id: 'n',
    sealed: '',
    created_at: '2026-01-01T00:00:00.000Z',
    expires_at: Date.UTC(2026, 0, 1, 0, 10) / 1000,
  };
  test.each([
    ['give', KEPT, 'n', '00:09:59'],
    ['give', { ...KEPT, fetch_id: 'f' }, 'n', '00:09:59'],
    ['expired', KEPT, 'n', '00:10:00'],
    ['expired', { ...KEPT, fetch_id: 'other' }, 'n', '00:10:00'],
    ['fetched', { ...KEPT, fetch_id: 'other' }, 'n', '00:09:59'],
    ['foreign', { ...KEPT, fetch_id: 'other' }, 'm', '00:09:59'],
    ['foreign', KEPT, 'm', '00:10:00'],
  ])('is judged: %s', (verdict, kept, node, time) => {
    expect(judgeFetch(kept, node, 'f', new Date(`2026-01-01T${time}.000Z`))).toBe(verdict);
  });
});

test('no row, message, event, audit or line of the log has the value of a secret', async () => {
  const lines: string[] = [];
  for (const name of ['stdout', 'stderr'] as const)
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      lines.push(String(chunk));
      return true;
    });
  const { project } = await scene.place();
  const artifact = await tasks.image(project);
  const handle = await keep();
  const { container, ...launch } = tasks.launchOf(artifact, project);
  const secrets = [{ handle, path: '/run/secrets/token' }];
  const { body: task } = await tasks.ask(host, 'oci.launch', {
    ...launch,
    container: { ...container, secrets },
  });
  await tasks.relay(task['id'] as string);
  const fetched = await fetchAs(host, handle);
  await fetchAs(host, handle);
  await tasks.end(host, task['id'] as string, succeeded(1));
  vi.restoreAllMocks();
  expect(fetched.body).toEqual({ value: inBase64 });

  const places = {
    table: JSON.stringify(await world.items('')),
    queue: JSON.stringify(await tasks.received(host)),
    log: lines.join(''),
  };
  expect(places.queue).toContain(handle);
  for (const [place, text] of Object.entries(places))
    for (const secret of [PLANTED, inBase64]) expect(text.includes(secret), place).toBe(false);
  // Only the task has the handle; the host alone can use it.
  const named = (await world.items('')).filter((item) => JSON.stringify(item).includes(handle));
  expect(named.map(({ sk }) => sk)).toEqual(['TASK']);
});
