import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrg } from '../../functions/identity/create-org.ts';
import { getMe } from '../../functions/identity/get-me.ts';
import { userKey } from '../../functions/platform/data/keys.ts';
import { ROLES } from '../../functions/platform/permissions.ts';
import { type OrgWorld, openOrgWorld, PLATFORM_ADMIN } from './org-world.ts';

let world: OrgWorld;
beforeAll(async () => void (world = await openOrgWorld()));
afterAll(() => world.stop());

test('a member learns their roles with the names of the places, by one request', async () => {
  const [one, two] = [await world.newOrg(), await world.newOrg()];
  const project = await world.newProject(two.org);
  await world.done(world.accept(one.admin, await world.invite(two.org, one.admin, 'app_developer', project)));
  const { body, requests } = await world.ask(getMe, { as: one.admin });
  expect(body).toEqual({
    kind: 'user',
    ...one.admin,
    permissions: [],
    grants: [
      {
        role: 'org_admin',
        org: { id: one.org, slug: expect.any(String) as string, name: 'An organisation' },
      },
      {
        role: 'app_developer',
        org: { id: two.org, slug: expect.any(String) as string, name: 'An organisation' },
        project: { id: project, slug: expect.any(String) as string, name: 'A project' },
      },
    ],
  });
  expect(requests).toBe(1);
});

test('somebody nobody has invited yet is told so, at no cost', async () => {
  const nobody = world.person();
  const { body, requests } = await world.ask(getMe, { as: nobody });
  expect(body).toEqual({ kind: 'user', ...nobody, permissions: [], grants: [] });
  expect(requests).toBe(0);
});

test('an admin of the platform is told what they may do everywhere', async () => {
  const { body } = await world.ask(getMe, { as: world.person(), grants: PLATFORM_ADMIN });
  expect(body).toMatchObject({ grants: [{ role: 'platform_admin' }] });
  expect(body['permissions']).toEqual([...ROLES.platform_admin].sort());
});

test('a service account sees the project it belongs to', async () => {
  const { org } = await world.newOrg();
  const project = await world.newProject(org);
  const actor = { kind: 'service_account', id: 'account' } as const;
  const grants = [{ role: 'app_operator' as const, org_id: org, project_id: project }];
  const { body } = await world.ask(getMe, { actor, grants });
  expect(body).toMatchObject({ ...actor, grants: [{ role: 'app_operator', project: { id: project } }] });
});

test('whoever holds as many roles as one person may still costs one request', async () => {
  const member = world.person();
  for (let index = 0; index < 3; index += 1)
    await world.accept(member, await world.invite((await world.newOrg()).org, member, 'viewer'));
  const grants = (await world.get(userKey(member.id)))?.['grants'] as { org_id: string }[];
  // 3 organisations and 87 projects: nobody can reach more.
  const more = Array.from({ length: 87 }, (_, index) => ({
    role: 'viewer',
    org_id: grants[0]?.org_id,
    project_id: `0199aaaa-0000-7000-8000-${String(index).padStart(12, '0')}`,
    since: '2026-01-01T00:00:00.000Z',
  }));
  await world.set(userKey(member.id), 'grants', [...grants, ...more]);
  const { body, requests } = await world.ask(getMe, { as: member });
  expect(body['grants']).toHaveLength(90);
  expect(requests).toBe(1);

  const oneTooMany = { as: member, grants: PLATFORM_ADMIN, body: { name: 'Too many', slug: 'too-many' } };
  expect((await world.ask(createOrg, oneTooMany)).code).toBe('member.too_many_grants');
});
