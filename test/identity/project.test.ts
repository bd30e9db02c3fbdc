import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { archiveProject } from '../../functions/identity/archive-project.ts';
import { createProject } from '../../functions/identity/create-project.ts';
import { getProject } from '../../functions/identity/get-project.ts';
import { listProjects } from '../../functions/identity/list-projects.ts';
import { renameProject } from '../../functions/identity/rename-project.ts';
import { unarchiveProject } from '../../functions/identity/unarchive-project.ts';
import { planProject } from '../../functions/identity/project.ts';
import { saveArchived } from '../../functions/identity/project-store.ts';
import { projectSlugKey } from '../../functions/identity/keys.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { addTo } from '../../functions/platform/data/counters.ts';
import { projectCounterKey, projectKey } from '../../functions/platform/data/keys.ts';
import { type OrgWorld, openOrgWorld } from './org-world.ts';

let world: OrgWorld;
beforeAll(async () => void (world = await openOrgWorld()));
afterAll(() => world.stop());

describe('creating a project', () => {
  test('takes one transaction, and gives nobody a role beyond what the organisation gives', async () => {
    const { org, admin } = await world.newOrg();
    const body = { name: 'Example', slug: 'example', description: 'Line one\nLine two' };
    const answer = await world.ask(createProject, { as: admin, org, body });
    expect(answer).toMatchObject({ status: 201, requests: 1, headers: { etag: '"1"' } });
    expect(answer.body).toMatchObject({ ...body, org_id: org, status: 'active', version: 1 });
    const { id } = answer.body;
    expect(answer.headers['location']).toBe(`/api/v1/projects/${id}`);
    expect(await world.rows(projectKey(id).pk, 'MEMBER#')).toEqual([]);
    expect(await world.audit(id), 'a project’s records begin with its creation').toMatchObject([
      { action: 'identity.project.create', org_id: org, project_id: id, actor: `user:${admin.id}` },
    ]);
    expect(await world.events(id)).toMatchObject([
      { type: 'identity.project.created', data: { slug: 'example' } },
    ]);
  });

  test('refuses a slug that another organisation has', async () => {
    const [one, other] = [await world.newOrg(), await world.newOrg()];
    const body = { name: 'Taken', slug: 'taken' };
    await world.done(world.ask(createProject, { as: one.admin, org: one.org, body }));
    const { code } = await world.ask(createProject, { as: other.admin, org: other.org, body });
    expect(code).toBe('project.slug_taken');
  });

  test('lets one of 20 at once have a slug', async () => {
    const { org, admin } = await world.newOrg();
    const body = { name: 'Race', slug: 'project-race' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.ask(createProject, { as: admin, org, body })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    expect(await world.get(projectSlugKey('project-race'))).toMatchObject({
      project_id: made[0]?.body['id'],
    });
    expect((await world.ask(listProjects, { as: admin, org })).body['items']).toHaveLength(1);
  });

  test('twice with one key is once', async () => {
    const { org, admin } = await world.newOrg();
    const asking = { as: admin, org, body: { name: 'Twice', slug: 'twice' }, key: 'twice' };
    const [first, second] = [await world.ask(createProject, asking), await world.ask(createProject, asking)];
    expect(second.body).toEqual(first.body);
  });

  test.each([
    ['no slug', { name: 'A' }],
    ['a slug of a path', { name: 'A', slug: 'a/b' }],
    ['a description that is too long', { name: 'A', slug: 'long-one', description: 'a'.repeat(501) }],
    ['a description with an escape character', { name: 'A', slug: 'escape', description: '\u001b[2J' }],
    ['a status of one’s own', { name: 'A', slug: 'own', status: 'archived' }],
  ])('refuses %s', async (_, body) => {
    const { org, admin } = await world.newOrg();
    expect((await world.ask(createProject, { as: admin, org, body })).code).toBe('request.invalid');
  });
});

describe('a project', () => {
  test('is read by one request', async () => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    const answer = await world.ask(getProject, { as: admin, project });
    expect(answer).toMatchObject({ requests: 1, headers: { etag: '"1"' } });
    expect(Object.keys(answer.body).sort()).toEqual(
      ['created_at', 'description', 'id', 'name', 'org_id', 'slug', 'status', 'version'].sort(),
    );
  });

  test('is renamed and described by whoever saw its present version', async () => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    const asking = { as: admin, project, body: { name: 'Renamed' } };
    const renamed = await world.ask(renameProject, { ...asking, ifMatch: 1 });
    expect(renamed).toMatchObject({ body: { name: 'Renamed', description: '', version: 2 }, requests: 2 });
    expect((await world.ask(renameProject, { ...asking, ifMatch: 1 })).code).toBe('precondition.failed');
    const described = await world.ask(renameProject, { ...asking, body: { description: 'What it is for' } });
    expect(described.body).toMatchObject({ name: 'Renamed', description: 'What it is for', version: 3 });
    expect((await world.events(project)).map(({ type }) => type as string)).toEqual([
      'identity.project.created',
      'identity.project.renamed',
      'identity.project.renamed',
    ]);
  });

  test('is not renamed to nothing', async () => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    expect((await world.ask(renameProject, { as: admin, project, body: {} })).code).toBe('request.invalid');
    expect((await world.ask(renameProject, { as: admin, project, body: { slug: 'other' } })).code).toBe(
      'request.invalid',
    );
  });

  test('is archived and comes back; each a second time changes nothing', async () => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    const archived = await world.ask(archiveProject, { as: admin, project });
    expect(archived).toMatchObject({ status: 200, body: { status: 'archived', version: 2 }, requests: 2 });
    expect(archived.body['archived_at']).toBeDefined();
    expect((await world.ask(archiveProject, { as: admin, project })).body).toEqual(archived.body);
    expect((await world.ask(getProject, { as: admin, project })).body).toEqual(archived.body);

    const active = await world.ask(unarchiveProject, { as: admin, project });
    expect(active.body).toMatchObject({ status: 'active', version: 3 });
    expect(active.body).not.toHaveProperty('archived_at');
    expect((await world.ask(unarchiveProject, { as: admin, project })).body).toEqual(active.body);
    expect((await world.ask(getProject, { as: admin, project })).body).toEqual(active.body);
    expect((await world.events(project)).map(({ type }) => type as string)).toEqual([
      'identity.project.created',
      'identity.project.archived',
      'identity.project.unarchived',
    ]);
    expect(await world.audit(project)).toHaveLength(5);
  });

  test('is not archived while something runs in it', async () => {
    const { org, admin } = await world.newOrg();
    const project = await world.newProject(org);
    await commit([addTo(projectCounterKey(project), 1)]);
    expect((await world.ask(archiveProject, { as: admin, project })).code).toBe('project.in_use');
    expect(await world.get(projectKey(project))).toMatchObject({ status: 'active', version: 1 });
  });

  test('is not archived either when something starts between looking and writing', async () => {
    const { org } = await world.newOrg();
    const project = await world.newProject(org);
    await commit([addTo(projectCounterKey(project), 1)]);
    const idle = planProject(project, org, { name: 'As it was seen', slug: 'seen' }, new Date());
    const archived = { ...idle, status: 'archived' as const, archived_at: new Date().toISOString() };
    await expect(commit(saveArchived(archived))).rejects.toMatchObject({ code: 'project.in_use' });
  });
});

describe('the list of an organisation’s projects', () => {
  test('goes by pages, oldest first, each one request, and shows no other organisation’s', async () => {
    const { org, admin } = await world.newOrg();
    const other = await world.newOrg();
    await world.newProject(other.org);
    const projects: string[] = [];
    for (let index = 0; index < 5; index += 1) projects.push(await world.newProject(org));
    await world.indexed();
    const seen: string[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await world.ask(listProjects, {
        as: admin,
        org,
        query: { limit: '2', ...(cursor && { cursor }) },
      });
      expect(page.requests).toBe(1);
      seen.push(...page.body['items'].map(({ id }: { id: string }) => id));
      cursor = page.body['next_cursor'];
    }
    expect(seen).toEqual(projects);
    const foreign = await world.ask(listProjects, { as: other.admin, org: other.org });
    expect(foreign.body['items']).toHaveLength(1);
  });

  test('refuses a cursor it never gave out', async () => {
    const { org, admin } = await world.newOrg();
    const query = { cursor: Buffer.from('ORG#other').toString('base64url') };
    expect((await world.ask(listProjects, { as: admin, org, query })).code).toBe('request.invalid');
  });
});
