import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrg } from '../../functions/identity/create-org.ts';
import { getOrg } from '../../functions/identity/get-org.ts';
import { listOrgs } from '../../functions/identity/list-orgs.ts';
import { renameOrg } from '../../functions/identity/rename-org.ts';
import { orgKey, userKey } from '../../functions/platform/data/keys.ts';
import { orgSlugKey } from '../../functions/identity/keys.ts';
import { type OrgWorld, openOrgWorld, PLATFORM_ADMIN } from './org-world.ts';

let world: OrgWorld;
beforeAll(async () => void (world = await openOrgWorld()));
afterAll(() => world.stop());

describe('creating an organisation', () => {
  test('makes its creator the first admin', async () => {
    const admin = world.person();
    const body = { name: 'Acme GmbH', slug: 'acme' };
    const answer = await world.ask(createOrg, { as: admin, grants: PLATFORM_ADMIN, body });
    expect(answer).toMatchObject({ status: 201, body: { ...body, version: 1 }, headers: { etag: '"1"' } });
    expect(answer.requests, 'one read of the user, one transaction').toBe(2);
    const { id } = answer.body;
    expect(answer.headers['location']).toBe(`/api/v1/orgs/${id}`);
    expect(await world.get(orgKey(id))).toMatchObject({ admin_count: 1 });
    expect(await world.get(userKey(admin.id))).toMatchObject({
      email: admin.email,
      grants: [{ role: 'org_admin', org_id: id }],
    });
    expect(await world.rows(orgKey(id).pk, 'MEMBER#')).toMatchObject([
      { user_id: admin.id, role: 'org_admin' },
    ]);
    expect(await world.audit(id)).toMatchObject([
      { action: 'identity.org.create', subject: `org:${id}`, org_id: id },
    ]);
    const types = (await world.events(id)).map(({ type }) => type as string);
    expect(types).toEqual(['identity.org.created', 'identity.member.added']);
  });

  test('or invites whoever shall administer it, and tells the secret once', async () => {
    const [creator, admin] = [world.person(), world.person()];
    const body = { name: 'Beta', slug: 'beta', invite_admin_email: admin.email.toUpperCase() };
    const asking = { as: creator, grants: PLATFORM_ADMIN, body, key: 'create-beta' };
    const { body: org, requests } = await world.ask(createOrg, asking);
    expect(requests, 'one transaction').toBe(1);
    expect(org).toMatchObject({ invitation: { email: admin.email, role: 'org_admin' } });
    expect(org['invitation_token']).toMatch(/^[\w-]{43}$/);
    expect(await world.get(userKey(creator.id))).toBeUndefined();
    expect(await world.get(orgKey(org['id']))).toMatchObject({ admin_count: 0 });

    const records = JSON.stringify([await world.audit(org['id']), await world.events(org['id'])]);
    expect(records).not.toContain(org['invitation_token']);
    expect((await world.ask(createOrg, asking)).body, 'a repeat hears the same').toEqual(org);

    expect((await world.accept(admin, org['invitation_token'])).status).toBe(200);
    expect(await world.get(orgKey(org['id']))).toMatchObject({ admin_count: 1 });
  });

  test.each([
    ['a slug with capitals', { name: 'A', slug: 'Acme' }],
    ['a slug with a dash at its end', { name: 'A', slug: 'acme-' }],
    ['a slug of one letter', { name: 'A', slug: 'a' }],
    ['a slug that is too long', { name: 'A', slug: 'a'.repeat(41) }],
    ['a blank name', { name: ' ', slug: 'blank' }],
    ['a name with a line break', { name: 'A\nB', slug: 'lines' }],
    ['a name with an escape character', { name: 'A\u001b[31mB', slug: 'escape' }],
    ['a name that is too long', { name: 'A'.repeat(101), slug: 'long' }],
    ['something unknown', { name: 'A', slug: 'unknown', plan: 'gold' }],
    ['an address that is none', { name: 'A', slug: 'address', invite_admin_email: 'nobody' }],
  ])('refuses %s', async (_, body) => {
    const { code } = await world.ask(createOrg, { as: world.person(), grants: PLATFORM_ADMIN, body });
    expect(code).toBe('request.invalid');
  });

  test('refuses a slug that is taken, and changes nothing', async () => {
    const creator = world.person();
    const body = { name: 'Gamma', slug: 'gamma' };
    await world.done(world.ask(createOrg, { as: world.person(), grants: PLATFORM_ADMIN, body }));
    const { code } = await world.ask(createOrg, { as: creator, grants: PLATFORM_ADMIN, body });
    expect(code).toBe('org.slug_taken');
    expect(await world.get(userKey(creator.id))).toBeUndefined();
  });

  test('lets one of 20 at once have a slug', async () => {
    const body = { name: 'Race', slug: 'race' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        world.ask(createOrg, { as: world.person(), grants: PLATFORM_ADMIN, body }),
      ),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    expect(await world.get(orgSlugKey('race'))).toMatchObject({ org_id: made[0]?.body['id'] });
    const codes = new Set(answers.flatMap(({ code }) => code ?? []));
    expect([...codes].filter((code) => !['org.slug_taken', 'idempotency.in_flight'].includes(code))).toEqual(
      [],
    );
  });
});

describe('an organisation', () => {
  test('is read by one request', async () => {
    const { org, admin } = await world.newOrg();
    const { body, requests, headers } = await world.ask(getOrg, { as: admin, org });
    expect(body).toEqual({
      id: org,
      slug: expect.any(String) as string,
      name: 'An organisation',
      version: 1,
      created_at: expect.any(String) as string,
    });
    expect(headers).toEqual({ etag: '"1"' });
    expect(requests).toBe(1);
  });

  test('is renamed by whoever saw its present version', async () => {
    const { org, admin } = await world.newOrg();
    const asking = { as: admin, org, body: { name: 'Another name' } };
    const answer = await world.ask(renameOrg, { ...asking, ifMatch: 1 });
    expect(answer).toMatchObject({
      body: { name: 'Another name', version: 2 },
      headers: { etag: '"2"' },
      requests: 2,
    });
    expect((await world.ask(renameOrg, { ...asking, ifMatch: 1 })).code).toBe('precondition.failed');
    expect((await world.ask(renameOrg, asking)).body['version'], 'without If-Match').toBe(3);
    expect(await world.get(orgKey(org))).toMatchObject({ admin_count: 1, version: 3 });
    const [, renaming] = await world.audit(org);
    expect(renaming).toMatchObject({ before: { name: 'An organisation' }, after: { name: 'Another name' } });
    expect((await world.events(org)).at(-1)).toMatchObject({ type: 'identity.org.renamed', org_id: org });
  });

  test('is renamed by one of 10 who saw the same version', async () => {
    const { org, admin } = await world.newOrg();
    const names = Array.from({ length: 10 }, (_, index) => `Name ${index}`);
    const answers = await Promise.all(
      names.map((name) => world.ask(renameOrg, { as: admin, org, body: { name }, ifMatch: 1 })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await world.get(orgKey(org))).toMatchObject({ version: 2 });
  });
});

describe('the list of organisations', () => {
  test('holds one’s own, by pages, each one request', async () => {
    const member = world.person();
    const orgs: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { org } = await world.newOrg();
      await world.accept(member, await world.invite(org, member, 'viewer'));
      orgs.push(org);
    }
    // A second role in the same organisation lists it no second time.
    const project = await world.newProject(orgs[0] as string);
    await world.accept(member, await world.invite(orgs[0] as string, member, 'viewer', project));

    const seen: string[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await world.ask(listOrgs, {
        as: member,
        query: { limit: '2', ...(cursor && { cursor }) },
      });
      expect(page.requests).toBe(1);
      seen.push(...page.body['items'].map(({ id }: { id: string }) => id));
      cursor = page.body['next_cursor'];
    }
    expect(seen).toEqual(orgs);
  });

  test('is empty for whoever belongs nowhere, and costs nothing', async () => {
    const answer = await world.ask(listOrgs, { as: world.person() });
    expect(answer).toMatchObject({ body: { items: [], next_cursor: null }, requests: 0 });
  });

  test('holds them all for an admin of the platform', async () => {
    const { org } = await world.newOrg();
    await world.indexed();
    const seen: string[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const query = { limit: '4', ...(cursor && { cursor }) };
      const page = await world.ask(listOrgs, { as: world.person(), grants: PLATFORM_ADMIN, query });
      expect(page.requests).toBe(1);
      seen.push(...page.body['items'].map(({ id }: { id: string }) => id));
      cursor = page.body['next_cursor'];
    }
    expect(seen.at(-1)).toBe(org);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test.each<Record<string, string>>([
    { limit: '0' },
    { limit: '101' },
    { cursor: 'bm9uc2Vuc2U' },
    { page: '2' },
  ])('refuses %o', async (query) => {
    expect((await world.ask(listOrgs, { as: world.person(), query })).code).toBe('request.invalid');
  });
});
