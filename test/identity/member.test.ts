import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listOrgMembers } from '../../functions/identity/list-org-members.ts';
import { listProjectMembers } from '../../functions/identity/list-project-members.ts';
import { putOrgMember } from '../../functions/identity/put-org-member.ts';
import { putProjectMember } from '../../functions/identity/put-project-member.ts';
import { removeOrgMember } from '../../functions/identity/remove-org-member.ts';
import { removeProjectMember } from '../../functions/identity/remove-project-member.ts';
import { PLACES_MAX, takeFromOrg } from '../../functions/identity/member.ts';
import { findUser, saveMembership } from '../../functions/identity/member-store.ts';
import { memberKey } from '../../functions/identity/keys.ts';
import type { User } from '../../functions/identity/user.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { orgKey, projectKey, userKey } from '../../functions/platform/data/keys.ts';
import { newId } from '../../functions/platform/ids.ts';
import { type Answer, type Asking, type OrgWorld, openOrgWorld, type Person } from './org-world.ts';

let world: OrgWorld;
beforeAll(async () => void (world = await openOrgWorld()));
afterAll(() => world.stop());

const of = ({ id }: Person) => ({ user_id: id });

const putOrg = (as: Person, org: string, member: Person, role: string): Promise<Answer> =>
  world.ask(putOrgMember, { as, org, params: of(member), body: { role } });
const removeOrg = (as: Person, org: string, member: Person): Promise<Answer> =>
  world.ask(removeOrgMember, { as, org, params: of(member) });
const putProject = (as: Person, project: string, member: Person, role: string): Promise<Answer> =>
  world.ask(putProjectMember, { as, project, params: of(member), body: { role } });
const removeProject = (as: Person, project: string, member: Person): Promise<Answer> =>
  world.ask(removeProjectMember, { as, project, params: of(member) });

async function rolesOf(member: Person): Promise<string[]> {
  return ((await world.get(userKey(member.id)))?.['grants'] ?? []).map(({ role }: { role: string }) => role);
}

async function adminCount(org: string): Promise<number> {
  return (await world.get(orgKey(org)))?.['admin_count'] as number;
}

describe('a role in the organisation', () => {
  test('is changed, and everything that follows from it with it', async () => {
    const { org, admin } = await world.newOrg();
    const member = await world.join(org, 'viewer');
    const since = (await findUser(member.id))?.grants[0]?.since;
    const answer = await putOrg(admin, org, member, 'org_admin');
    expect(answer).toMatchObject({
      status: 200,
      body: { user_id: member.id, email: member.email, role: 'org_admin', since },
      requests: 2,
    });
    expect(await rolesOf(member)).toEqual(['org_admin']);
    expect(await world.get(memberKey({ org_id: org }, member.id))).toMatchObject({
      role: 'org_admin',
      since,
    });
    expect(await adminCount(org)).toBe(2);
    expect((await world.audit(org)).at(-1)).toMatchObject({
      action: 'identity.org_member.put',
      subject: `user:${member.id}`,
      before: { role: 'viewer' },
      after: { role: 'org_admin' },
    });
    expect((await world.events(org)).at(-1)).toMatchObject({
      type: 'identity.member.role_changed',
      data: { user_id: member.id, role: 'org_admin', role_before: 'viewer', org_id: org },
    });

    expect((await putOrg(admin, org, member, 'viewer')).status).toBe(200);
    expect(await adminCount(org)).toBe(1);
  });

  test('given again is the same role, and an audit row', async () => {
    const { org, admin } = await world.newOrg();
    const member = await world.join(org, 'viewer');
    const [user, events, audit] = [
      await findUser(member.id),
      await world.events(org),
      await world.audit(org),
    ];
    expect((await putOrg(admin, org, member, 'viewer')).status).toBe(200);
    expect(await findUser(member.id)).toEqual(user);
    expect(await world.events(org)).toEqual(events);
    expect(await world.audit(org)).toHaveLength(audit.length + 1);
  });

  test('may be given to somebody who came for a project', async () => {
    const { org, admin } = await world.newOrg();
    const member = await world.join(org, 'app_operator', await world.newProject(org));
    expect((await putOrg(admin, org, member, 'viewer')).status).toBe(200);
    expect(await rolesOf(member)).toEqual(['app_operator', 'viewer']);
    expect((await world.events(org)).at(-1)).toMatchObject({ type: 'identity.member.added' });
  });

  test('is not given to strangers, be they unknown or another organisation’s', async () => {
    const { org, admin } = await world.newOrg();
    const other = await world.newOrg();
    expect((await putOrg(admin, org, world.person(), 'viewer')).code).toBe('member.unknown');
    expect((await putOrg(admin, org, other.admin, 'viewer')).code).toBe('member.unknown');
    expect((await removeOrg(admin, org, other.admin)).code).toBe('member.unknown');
    expect(await rolesOf(other.admin)).toEqual(['org_admin']);
  });

  test.each(['project_admin', 'platform_admin', 'app', 'nonsense'])('is none of %s', async (role) => {
    const { org, admin } = await world.newOrg();
    expect((await putOrg(admin, org, admin, role)).code).toBe('request.invalid');
  });

  test('stays with the last admin', async () => {
    const { org, admin } = await world.newOrg();
    await world.join(org, 'viewer');
    expect((await putOrg(admin, org, admin, 'viewer')).code).toBe('member.last_admin');
    expect((await removeOrg(admin, org, admin)).code).toBe('member.last_admin');
    const demoting = await world.invite(org, admin, 'viewer');
    expect((await world.accept(admin, demoting)).code).toBe('member.last_admin');
    expect(await rolesOf(admin)).toEqual(['org_admin']);
    expect(await adminCount(org)).toBe(1);
  });

  test('stays with the last admin also when the other has gone between looking and writing', async () => {
    const { org, admin } = await world.newOrg();
    const other = await world.join(org, 'org_admin');
    const seen = (await findUser(admin.id)) as User;
    await world.done(removeOrg(admin, org, other));
    await expect(commit(saveMembership(seen, takeFromOrg(seen, org)))).rejects.toMatchObject({
      code: 'member.last_admin',
    });
  });

  test.each([
    ['removing', removeOrg],
    ['demoting', (as: Person, org: string, member: Person) => putOrg(as, org, member, 'viewer')],
  ])('two admins %s each other at once leave one', async (_, act) => {
    for (let round = 0; round < 10; round += 1) {
      const { org, admin } = await world.newOrg();
      const other = await world.join(org, 'org_admin');
      await Promise.all([act(admin, org, other), act(other, org, admin)]);
      const roles = [...(await rolesOf(admin)), ...(await rolesOf(other))];
      const admins = roles.filter((role) => role === 'org_admin').length;
      expect(admins).toBeGreaterThan(0);
      expect(await adminCount(org)).toBe(admins);
    }
  });
});

describe('leaving an organisation', () => {
  test('takes the roles in all its projects, and none elsewhere', async () => {
    const { org, admin } = await world.newOrg();
    const elsewhere = await world.newOrg();
    const member = await world.join(org, 'viewer');
    await world.done(world.accept(member, await world.invite(elsewhere.org, member, 'viewer')));
    const projects = [await world.newProject(org), await world.newProject(org)];
    for (const project of projects) await world.done(putProject(admin, project, member, 'app_developer'));

    const answer = await removeOrg(admin, org, member);
    expect(answer).toMatchObject({ status: 204, requests: 2 });
    expect((await findUser(member.id))?.grants).toMatchObject([{ role: 'viewer', org_id: elsewhere.org }]);
    expect(await world.get(memberKey({ org_id: org }, member.id))).toBeUndefined();
    for (const project_id of projects) {
      expect(await world.get(memberKey({ org_id: org, project_id }, member.id))).toBeUndefined();
    }
    expect((await world.events(org)).at(-1)).toMatchObject({
      type: 'identity.member.removed',
      data: { user_id: member.id, org_id: org, project_ids: projects },
    });
    expect((await removeOrg(admin, org, member)).code, 'a second time').toBe('member.unknown');
  });

  test('is for those too who only came for a project', async () => {
    const { org, admin } = await world.newOrg();
    const member = await world.join(org, 'app_operator', await world.newProject(org));
    expect((await removeOrg(admin, org, member)).status).toBe(204);
    expect(await rolesOf(member)).toEqual([]);
  });

  test('is one transaction even from as many projects as one person may be in', async () => {
    const { org, admin } = await world.newOrg();
    const member = await world.join(org, 'viewer');
    const user = (await findUser(member.id)) as User;
    const grants = Array.from({ length: PLACES_MAX - 1 }, () => {
      const [role, project_id] = ['viewer' as const, newId()];
      return { role, org_id: org, project_id, since: new Date().toISOString() };
    });
    const full = { ...user, grants: [...user.grants, ...grants], version: user.version + 1 };
    await commit(saveMembership(user, full));

    const project = await world.newProject(org);
    expect((await putProject(admin, project, member, 'viewer')).code).toBe('member.too_many_grants');

    const asking = { as: admin, org, params: of(member), key: 'all-at-once' };
    expect(await world.ask(removeOrgMember, asking)).toMatchObject({ status: 204, requests: 2 });
    expect(await rolesOf(member)).toEqual([]);
    const row = await world.get(memberKey({ org_id: org, project_id: grants[0]?.project_id }, member.id));
    expect(row).toBeUndefined();
  });
});

describe('a role in a project', () => {
  test('is given to people of the organisation, changed and taken', async () => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    const member = await world.join(org, 'viewer');
    const place = { org_id: org, project_id: project };

    expect(await putProject(admin, project, member, 'project_admin')).toMatchObject({
      status: 200,
      body: { user_id: member.id, role: 'project_admin' },
      requests: 2,
    });
    expect(await world.get(memberKey(place, member.id))).toMatchObject({ role: 'project_admin' });
    await world.done(putProject(admin, project, member, 'app_operator'));
    expect(await rolesOf(member)).toEqual(['viewer', 'app_operator']);

    expect(await removeProject(admin, project, member)).toMatchObject({ status: 204, requests: 2 });
    expect(await rolesOf(member)).toEqual(['viewer']);
    expect(await world.get(memberKey(place, member.id))).toBeUndefined();
    expect((await removeProject(admin, project, member)).code).toBe('member.unknown');
    expect(await adminCount(org), 'a project’s admin is none of the organisation').toBe(1);

    expect((await world.events(project)).slice(1)).toMatchObject([
      { type: 'identity.member.added', project_id: project, data: { role: 'project_admin' } },
      { type: 'identity.member.role_changed', data: { role: 'app_operator', role_before: 'project_admin' } },
      { type: 'identity.member.removed', data: { user_id: member.id, project_id: project } },
    ]);
    expect((await world.audit(project)).map(({ action }) => action as string)).toEqual([
      'identity.project.create',
      'identity.project_member.put',
      'identity.project_member.put',
      'identity.project_member.remove',
    ]);
  });

  test('is not given to strangers', async () => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    const other = await world.newOrg();
    expect((await putProject(admin, project, world.person(), 'viewer')).code).toBe('member.unknown');
    expect((await putProject(admin, project, other.admin, 'viewer')).code).toBe('member.unknown');
  });

  test.each(['org_admin', 'platform_admin', 'node', ''])('is none of “%s”', async (role) => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    expect((await putProject(admin, project, admin, role)).code).toBe('request.invalid');
  });

  test('may be taken from its last admin: the organisation’s remain', async () => {
    const { org } = await world.newOrg();
    const project = await world.newProject(org);
    const member = await world.join(org, 'project_admin', project);
    expect((await removeProject(member, project, member)).status).toBe(204);
  });
});

describe('the list of members', () => {
  async function collect(list: (query: Record<string, string>) => Promise<Answer>): Promise<string[]> {
    const seen: string[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await list({ limit: '2', ...(cursor && { cursor }) });
      expect(page.requests).toBe(1);
      seen.push(...page.body['items'].map(({ user_id }: { user_id: string }) => user_id));
      cursor = page.body['next_cursor'];
    }
    return seen;
  }

  test('goes by pages, each one request', async () => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    const members = [admin];
    for (let index = 0; index < 4; index += 1) members.push(await world.join(org, 'viewer'));
    // Invitations stand in the same partition and are no members.
    await world.invite(org, world.person(), 'viewer');
    for (const member of members) await world.done(putProject(admin, project, member, 'viewer'));
    const ids = members.map(({ id }) => id).sort();
    expect(await collect((query) => world.ask(listOrgMembers, { as: admin, org, query }))).toEqual(ids);
    expect(await collect((query) => world.ask(listProjectMembers, { as: admin, project, query }))).toEqual(
      ids,
    );
  });

  test('tells who, in which role, since when', async () => {
    const { org, admin } = await world.newOrg();
    const { body } = await world.ask(listOrgMembers, { as: admin, org });
    const since = expect.any(String) as string;
    expect(body['items']).toEqual([{ user_id: admin.id, email: admin.email, role: 'org_admin', since }]);
  });

  test.each(['INVITATION#x', 'MEMBER#', 'ORG', 'MEMBER#a b'])('refuses a cursor of %s', async (sortKey) => {
    const { org, admin } = await world.newOrg();
    const asking: Asking = { as: admin, org, query: { cursor: Buffer.from(sortKey).toString('base64url') } };
    expect((await world.ask(listOrgMembers, asking)).code).toBe('request.invalid');
  });

  test('of an empty project is empty', async () => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    expect(await world.rows(projectKey(project).pk, 'MEMBER#')).toEqual([]);
    expect((await world.ask(listProjectMembers, { as: admin, project })).body).toEqual({
      items: [],
      next_cursor: null,
    });
  });
});
