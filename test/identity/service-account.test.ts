import { createPrivateKey, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeServiceAccount } from '../../functions/identity/change-service-account.ts';
import { createServiceAccount } from '../../functions/identity/create-service-account.ts';
import { deleteServiceAccount } from '../../functions/identity/delete-service-account.ts';
import { disableServiceAccount } from '../../functions/identity/disable-service-account.ts';
import { enableServiceAccount } from '../../functions/identity/enable-service-account.ts';
import { getServiceAccount } from '../../functions/identity/get-service-account.ts';
import { listServiceAccounts } from '../../functions/identity/list-service-accounts.ts';
import { rotateServiceAccountKey } from '../../functions/identity/rotate-service-account-key.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import type { Endpoint } from '../../functions/platform/http/endpoint.ts';
import { type Answer, codeOf, openSigningWorld, project, type SigningWorld } from './signing-world.ts';

let world: SigningWorld;
let made = 0;

beforeAll(async () => {
  world = await openSigningWorld();
});

afterAll(async () => {
  await world?.close();
});

beforeEach(() => world.pass(3600));

const sibling = { ...project, id: '0199aaaa-0000-7000-8000-00000000000b' };
const keyOf = (id: string) => ({ pk: `SERVICE_ACCOUNT#${id}`, sk: 'SERVICE_ACCOUNT' });
const named = (id: string) => ({ params: { service_account_id: id } });

interface Created {
  id: string;
  slug: string;
  key_id: string;
  private_key_pem: string;
  version: number;
}

async function create(more: Record<string, unknown> = {}, key?: string): Promise<Answer & { body: Created }> {
  const body = { name: 'App operator', slug: `operator-${(made += 1)}`, ...more };
  return (await world.call(createServiceAccount, { body, ...(key && { key }) })) as Answer & {
    body: Created;
  };
}

describe('creating', () => {
  test('returns the private key once and keeps only the public one', async () => {
    const { status, headers, body } = await create({ slug: 'app-operator', description: 'For CI' });
    expect(status).toBe(201);
    expect(headers['location']).toBe(`/api/v1/projects/${project.id}/service-accounts/${body.id}`);
    expect(body).toMatchObject({
      project_id: project.id,
      org_id: project.org_id,
      slug: 'app-operator',
      description: 'For CI',
      role: 'app_operator',
      status: 'active',
      keys: [{ key_id: body.key_id }],
    });
    expect(body.private_key_pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    const item = await world.get(keyOf(body.id));
    const publicKey = createPublicKey(createPrivateKey(body.private_key_pem)).export({ format: 'jwk' });
    expect(item).toMatchObject({ keys: [{ key_id: body.key_id, public_key_jwk: publicKey }] });
    const secret = body.private_key_pem.split('\n')[1] as string;
    expect(JSON.stringify(await world.items(''))).not.toContain(secret);
    const { body: seen } = await world.call(getServiceAccount, named(body.id));
    expect(Object.keys(seen)).not.toContain('private_key_pem');
  });

  test('leaves one audit row and one event, in one transaction and no read', async () => {
    const before = world.requests();
    const { body } = await create();
    expect(world.requests() - before).toBe(1);
    expect(await recordsOf(body.id)).toEqual({
      actions: ['identity.service_account.create'],
      events: ['identity.service_account.created'],
    });
  });

  test('again with the same key gives the same answer, private key and all', async () => {
    const first = await create({ slug: 'repeated' }, 'same');
    const second = await create({ slug: 'repeated' }, 'same');
    expect(second).toEqual(first);
  });

  test('a slug is held once in a project, and another project may have it', async () => {
    await create({ slug: 'held' });
    expect(await codeOf(create({ slug: 'held' }))).toBe('service_account.slug_taken');
    await world.put({ pk: `PROJECT#${sibling.id}`, sk: 'PROJECT', ...sibling });
    const body = { name: 'x', slug: 'held' };
    expect((await world.call(createServiceAccount, { body, ctx: { project: sibling } })).status).toBe(201);
  });

  test('of racing callers one gets the slug', async () => {
    const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(create({ slug: 'raced' }))));
    expect(codes.filter((code) => code === 'no refusal')).toHaveLength(1);
    for (const code of codes)
      expect(code).toMatch(/^(no refusal|service_account\.slug_taken|idempotency\.in_flight)$/);
  });

  test('is refused in an archived project, also when the project was archived a moment ago', async () => {
    const body = { name: 'x', slug: 'late' };
    const archived = { ...project, id: '0199aaaa-0000-7000-8000-00000000000c', status: 'archived' as const };
    expect(await codeOf(world.call(createServiceAccount, { body, ctx: { project: archived } }))).toBe(
      'project.archived',
    );
    await world.put({ pk: `PROJECT#${archived.id}`, sk: 'PROJECT', ...archived });
    const stale = { ...archived, status: 'active' as const };
    expect(await codeOf(world.call(createServiceAccount, { body, ctx: { project: stale } }))).toBe(
      'project.archived',
    );
  });

  test.each([
    ['a role that is not for service accounts', { role: 'project_admin' }],
    ['the role kept for app instances', { role: 'app' }],
    ['a slug with capitals', { slug: 'App' }],
    ['no name', { name: '' }],
    ['a name over its length', { name: 'x'.repeat(101) }],
    ['a member nobody knows', { admin: true }],
  ])('is refused with %s', async (_, more) => {
    expect(await codeOf(create(more))).toBe('request.invalid');
  });
});

describe('reading', () => {
  test('lists the accounts of the project in pages of one request each', async () => {
    const place = { ...project, id: '0199aaaa-0000-7000-8000-0000000000aa' };
    await world.put({ pk: `PROJECT#${place.id}`, sk: 'PROJECT', ...place });
    const ids: string[] = [];
    for (const slug of ['one', 'two', 'three', 'four', 'five']) {
      const { body } = await world.call(createServiceAccount, {
        body: { name: slug, slug },
        ctx: { project: place },
      });
      ids.push(body['id'] as string);
    }
    await world.indexed();
    const before = world.requests();
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const query: Record<string, string> = { limit: '2', ...(cursor && { cursor }) };
      const { body } = await world.call(listServiceAccounts, { query, ctx: { project: place } });
      listed.push(...(body['items'] as { id: string }[]).map(({ id }) => id));
      cursor = (body['next_cursor'] as string | null) ?? undefined;
    } while (cursor);
    expect(listed).toEqual(ids);
    expect(world.requests() - before).toBe(3);
  });

  test('gets one in one request, with its version as entity tag', async () => {
    const { body } = await create();
    const before = world.requests();
    const { headers } = await world.call(getServiceAccount, named(body.id));
    expect(headers).toEqual({ etag: '"1"' });
    expect(world.requests() - before).toBe(1);
  });

  const one: [string, Endpoint, unknown][] = [
    ['get', getServiceAccount, undefined],
    ['change', changeServiceAccount, { name: 'y' }],
    ['disable', disableServiceAccount, undefined],
    ['enable', enableServiceAccount, undefined],
    ['delete', deleteServiceAccount, undefined],
    ['rotate key', rotateServiceAccountKey, {}],
  ];

  test.each(one)('%s: an account of another project is as unknown as none', async (_, endpoint, body) => {
    const { body: account } = await create();
    const foreign = { ...named(account.id), body, ctx: { project: sibling } };
    const absent = { ...named('0199ffff-0000-7000-8000-000000000000'), body };
    let before = world.requests();
    expect(await codeOf(world.call(endpoint, foreign))).toBe('service_account.unknown');
    const requests = world.requests() - before;
    before = world.requests();
    expect(await codeOf(world.call(endpoint, absent))).toBe('service_account.unknown');
    expect(world.requests() - before).toBe(requests);
  });
});

describe('changing', () => {
  test('sets what is given and nothing else', async () => {
    const { body } = await create({ description: 'before' });
    const change = { name: 'Renamed', role: 'viewer' };
    const { body: changed, headers } = await world.call(changeServiceAccount, {
      ...named(body.id),
      body: change,
      ifMatch: 1,
    });
    expect(changed).toMatchObject({ ...change, description: 'before', slug: body.slug, version: 2 });
    expect(headers['etag']).toBe('"2"');
    expect(await world.get(keyOf(body.id))).toMatchObject({ ...change, description: 'before', version: 2 });
    expect(await recordsOf(body.id)).toMatchObject({
      actions: [expect.any(String), 'identity.service_account.change'],
    });
  });

  test('is refused for a version that has passed', async () => {
    const { body } = await create();
    const asked = { ...named(body.id), body: { name: 'x' } };
    await world.call(changeServiceAccount, asked);
    expect(await codeOf(world.call(changeServiceAccount, { ...asked, ifMatch: 1 }))).toBe(
      'precondition.failed',
    );
  });

  test('of racing changes to one version one happens', async () => {
    const { body } = await create();
    const codes = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        codeOf(
          world.call(changeServiceAccount, { ...named(body.id), body: { name: `n${index}` }, ifMatch: 1 }),
        ),
      ),
    );
    expect(codes.filter((code) => code === 'no refusal')).toHaveLength(1);
    expect(await world.get(keyOf(body.id))).toMatchObject({ version: 2 });
  });

  test('nothing is not a change', async () => {
    const { body } = await create();
    expect(await codeOf(world.call(changeServiceAccount, { ...named(body.id), body: {} }))).toBe(
      'request.invalid',
    );
  });

  test('disabling and enabling are in one read and one transaction, and twice is once', async () => {
    const { body } = await create();
    const before = world.requests();
    expect((await world.call(disableServiceAccount, named(body.id))).body).toMatchObject({
      status: 'disabled',
    });
    expect(world.requests() - before).toBe(2);
    expect((await world.call(disableServiceAccount, named(body.id))).body).toMatchObject({
      status: 'disabled',
    });
    expect((await world.call(enableServiceAccount, named(body.id))).body).toMatchObject({ status: 'active' });
    expect(await world.get(keyOf(body.id))).toMatchObject({
      status: 'active',
      keys: [{ key_id: body.key_id }],
    });
  });

  test('deleting frees the slug', async () => {
    const { body } = await create({ slug: 'freed' });
    const { status, body: nothing } = await world.call(deleteServiceAccount, named(body.id));
    expect([status, nothing]).toEqual([204, undefined]);
    expect(await world.get(keyOf(body.id))).toBeUndefined();
    expect(await codeOf(world.call(getServiceAccount, named(body.id)))).toBe('service_account.unknown');
    expect((await create({ slug: 'freed' })).status).toBe(201);
    expect(await recordsOf(body.id)).toEqual({
      actions: ['identity.service_account.create', 'identity.service_account.delete'],
      events: ['identity.service_account.created', 'identity.service_account.deleted'],
    });
  });
});

test('an account that is changed between looking and writing is not deleted by who saw the version before', async () => {
  const { body } = await create();
  let change: Promise<unknown> | undefined;
  dynamo().middlewareStack.add(
    (next) => async (args) => {
      if ('TransactItems' in args.input && change === undefined)
        await (change = world.call(changeServiceAccount, { ...named(body.id), body: { name: 'Changed' } }));
      return next(args);
    },
    { step: 'initialize', name: 'between' },
  );
  const code = await codeOf(world.call(deleteServiceAccount, { ...named(body.id), ifMatch: 1 }));
  dynamo().middlewareStack.remove('between');
  expect(code).toBe('precondition.failed');
  expect(await world.get(keyOf(body.id))).toMatchObject({ name: 'Changed' });
});

describe('rotating a key', () => {
  const rotate = (id: string, overlap_seconds?: number) =>
    world.call(rotateServiceAccountKey, { ...named(id), body: { overlap_seconds } }) as Promise<
      Answer & { body: Created }
    >;
  const keysOf = async (id: string) =>
    (await world.get(keyOf(id)))?.['keys'] as { key_id: string; not_after?: string }[];
  const inSeconds = (seconds: number) => new Date(world.clock.now.getTime() + seconds * 1000).toISOString();

  test('the key before works for the overlap, an hour unless told otherwise', async () => {
    const { body } = await create();
    const { body: rotated } = await rotate(body.id);
    expect(rotated.private_key_pem).not.toBe(body.private_key_pem);
    expect(await keysOf(body.id)).toMatchObject([
      { key_id: body.key_id, not_after: inSeconds(3600) },
      { key_id: rotated.key_id },
    ]);
    expect((await keysOf(body.id))[1]).not.toHaveProperty('not_after');
  });

  test('an overlap of 0 ends the keys before at once', async () => {
    const { body } = await create();
    await rotate(body.id);
    const { body: rotated } = await rotate(body.id, 0);
    expect(await keysOf(body.id)).toMatchObject([{ key_id: rotated.key_id }]);
  });

  test('a later rotation never lengthens the time of a key', async () => {
    const { body } = await create();
    await rotate(body.id, 60);
    const end = inSeconds(60);
    await rotate(body.id, 604_800);
    expect((await keysOf(body.id))[0]).toMatchObject({ key_id: body.key_id, not_after: end });
  });

  test('a fourth key is refused until one has ended', async () => {
    const { body } = await create();
    await rotate(body.id, 60);
    await rotate(body.id, 600);
    expect(await codeOf(rotate(body.id, 600))).toBe('service_account.too_many_keys');
    world.pass(60);
    await rotate(body.id, 600);
    expect(await keysOf(body.id)).toHaveLength(3);
  });

  test('again with the same key gives the same answer', async () => {
    const { body } = await create();
    const asked = { ...named(body.id), body: {}, key: 'rotated-once' };
    const first = await world.call(rotateServiceAccountKey, asked);
    expect(await world.call(rotateServiceAccountKey, asked)).toEqual(first);
    expect(await keysOf(body.id)).toHaveLength(2);
  });

  test.each([-1, 604_801, 1.5, '60'])('an overlap of %j is refused', async (overlap) => {
    const { body } = await create();
    expect(await codeOf(rotate(body.id, overlap as number))).toBe('request.invalid');
  });
});

async function recordsOf(id: string): Promise<{ actions: unknown[]; events: unknown[] }> {
  const audit = await world.items(`AUDIT#${project.id}`);
  const outbox = await world.items(`OUTBOX#${project.id}`);
  const events = outbox.map((row) => row['event'] as { type: string; data: Record<string, unknown> });
  return {
    actions: audit.filter((row) => row['subject'] === `service_account:${id}`).map((row) => row['action']),
    events: events.filter(({ data }) => data['service_account_id'] === id).map(({ type }) => type),
  };
}
