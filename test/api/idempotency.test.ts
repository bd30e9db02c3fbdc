import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEEP } from '../deep.ts';
import { openScene } from './scene.ts';
import { ADMIN, openWorld, type Answer, type Call, type World } from './world.ts';

const KEYS = DEEP ? 2_000 : 20;
const RACERS = DEEP ? 50 : 20;
const ROUTE = 'POST /api/v1/orgs';

let world: World;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  token = await world.issuer.token(ADMIN);
});

afterAll(() => world.close());

const create = (key: string, slug: string, route = ROUTE): Promise<Answer> =>
  world.call(route, { body: { name: slug, slug }, token, headers: { 'x-idempotency-key': key } });

/** A caller in a race tries again when told that this may help: the first is under way, or the machine is busy. */
async function persist(route: string, call: Call): Promise<Answer> {
  for (;;) {
    const answer = await world.call(route, call);
    if (answer.status < 400) return answer;
    expect(answer.body).toMatchObject({ retryable: true });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('a request with an idempotency key', () => {
  test(`has one effect and one answer, for ${KEYS} keys with ${RACERS} racing callers each`, async () => {
    const scene = openScene(world);
    for (let key = 0; key < KEYS; key += 1) {
      // Each time somebody else: one caller alone would soon be told to slow down.
      const { org, admin } = await scene.place();
      const call = {
        params: { org_id: org.id },
        body: { name: 'Raced', slug: `race-${key}` },
        token: admin.token,
        headers: { 'x-idempotency-key': `race-${key}` },
      };
      const answers = await Promise.all(
        Array.from({ length: RACERS }, () => persist('POST /api/v1/orgs/{org_id}/projects', call)),
      );
      expect([...new Set(answers.map(({ status, text }) => `${status} ${text}`))]).toHaveLength(1);
      expect(answers[0]?.status).toBe(201);
    }
    const projects = (await world.items('PROJECT#')).filter(({ sk }) => sk === 'PROJECT');
    expect(projects.filter(({ name }) => name === 'Raced')).toHaveLength(KEYS);
    const rows = await world.items('AUDIT#');
    expect(rows.filter(({ action }) => action === 'identity.project.create')).toHaveLength(KEYS);
  }, 300_000);

  test('gets the first answer again when the first reply was lost', async () => {
    const first = await create('lost', 'lost');
    const second = await create('lost', 'lost');
    expect(second.text).toBe(first.text);
    expect(second.status).toBe(first.status);
    expect(second.headers['location']).toBe(first.headers['location']);
  });

  test('is refused with another body', async () => {
    await create('other', 'other-a');
    expect(await create('other', 'other-b')).toMatchObject({
      status: 422,
      body: { code: 'idempotency.other_body' },
    });
  });

  test('may be spelled Idempotency-Key', async () => {
    const ask = (name: string) =>
      world.call(ROUTE, { body: { name: 'sp', slug: 'spelled' }, token, headers: { [name]: 'spelled' } });
    expect((await ask('idempotency-key')).text).toBe((await ask('x-idempotency-key')).text);
  });

  test('is asked for where creating twice would be two things', async () => {
    const answer = await world.call(ROUTE, { body: { name: 'n', slug: 'nokey' }, token });
    expect(answer).toMatchObject({ status: 400, body: { code: 'idempotency.key_missing' } });
  });

  test('belongs to who sent it: the same key of another caller is another request', async () => {
    await create('mine', 'mine-a');
    const other = await world.call('POST /api/v1/invitations/accept', {
      body: { invitation_token: 'x'.repeat(43) },
      token: await world.issuer.token('somebody-else', { claims: { email_verified: true } }),
      headers: { 'x-idempotency-key': 'mine' },
    });
    expect(other.status).toBe(404);
  });
});

describe('an answer that carried a secret', () => {
  const project_id = '0199aaaa-0000-7000-8000-00000000000a';
  const org_id = '0199aaaa-0000-7000-8000-000000000001';

  beforeAll(async () => {
    const common = {
      name: 'x',
      version: 1,
      created_at: '2026-01-01T00:00:00.000Z',
      admin_count: 1,
    };
    await world.put({ pk: `ORG#${org_id}`, sk: 'ORG', ...common, id: org_id, slug: 'secret-org' });
    await world.put({
      pk: `PROJECT#${project_id}`,
      sk: 'PROJECT',
      ...common,
      id: project_id,
      org_id,
      slug: 'secret-project',
      status: 'active',
    });
  });

  const make = () =>
    world.call('POST /api/v1/projects/{project_id}/service-accounts', {
      params: { project_id },
      body: { name: 'keeper', slug: 'keeper' },
      token,
      headers: { 'x-idempotency-key': 'secret-1' },
    });

  test('gives it again for ten minutes, keeps it sealed, and leaves it out after', async () => {
    const first = await make();
    expect(first.status).toBe(201);
    const { private_key_pem } = first.body as { private_key_pem: string };
    expect(private_key_pem).toContain('PRIVATE KEY');
    expect((await make()).text).toBe(first.text);

    const everything = JSON.stringify(await world.items(''));
    expect(everything).not.toContain('PRIVATE KEY');

    const receipt = (await world.items('RECEIPT#')).find((item) => String(item['body']).includes('keeper'));
    await world.set(receipt as { pk: string; sk: string }, 'sealed_until', 1);
    const later = await make();
    expect(later.status).toBe(201);
    expect(later.body).not.toHaveProperty('private_key_pem');
    expect((later.body as { id: string }).id).toBe((first.body as { id: string }).id);
  });
});
