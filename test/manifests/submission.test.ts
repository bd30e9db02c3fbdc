import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSubmissionKey } from '../../functions/manifests/keys.ts';
import type { Project } from '../../functions/identity/project.ts';
import type { Person } from '../api/scene.ts';
import { type Body, type ManifestWorld, openManifestWorld } from './manifest-world.ts';
import { sampleManifest } from './sample-manifest.ts';

const SUBMIT = 'POST /api/v1/projects/{project_id}/apps/manifests';
const LIST = 'GET /api/v1/projects/{project_id}/apps/submissions';
const ONE = '/api/v1/projects/{project_id}/apps/submissions/{submission_id}';
const QUEUE = 'GET /api/v1/admin/apps/submissions';
const ADMIN_ONE = '/api/v1/admin/apps/submissions/{submission_id}';

let world: ManifestWorld;
let reviewer: Person;

beforeAll(async () => {
  world = await openManifestWorld();
  reviewer = await world.scene.platformAdmin();
});
afterAll(() => world.close());

interface Team {
  project: Project;
  developer: Person;
}

async function newTeam(): Promise<Team> {
  const { project } = await world.scene.place();
  const place = { org_id: project.org_id, project_id: project.id };
  return { project, developer: await world.scene.member(place, 'app_developer') };
}

const submit = ({ project, developer }: Team, body: unknown = sampleManifest()) =>
  world.ask(SUBMIT, developer, { params: { project_id: project.id }, body });

async function submitted(team: Team, body?: unknown): Promise<Body> {
  return world.done(submit(team, body));
}

const own = (
  method: 'GET' | 'PUT' | 'POST',
  { project, developer }: Team,
  id: string,
  call: { body?: unknown; headers?: Record<string, string> } = {},
) =>
  world.ask(
    method === 'POST' ? `POST ${ONE}/withdraw` : method === 'PUT' ? `PUT ${ONE}` : `GET ${ONE}`,
    developer,
    { params: { project_id: project.id, submission_id: id }, ...call },
  );

const decide = (
  verdict: 'approve' | 'reject' | 'request-changes',
  id: string,
  {
    as = reviewer,
    body = verdict === 'approve' ? {} : { notes: 'As it is, it cannot stay.' },
    headers,
  }: { as?: Person; body?: unknown; headers?: Record<string, string> } = {},
) =>
  world.ask(`POST ${ADMIN_ONE}/${verdict}`, as, {
    params: { submission_id: id },
    body,
    ...(headers && { headers }),
  });

const codeOf = async (answering: Promise<{ body: Body }>): Promise<string> =>
  String((await answering).body['code']);

async function queue(): Promise<string[]> {
  const items: string[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const query = { limit: '2', ...(cursor && { cursor }) };
    const page: Body = await world.done(world.ask(QUEUE, reviewer, { query }));
    items.push(...page['items'].map(({ id }: Body) => id as string));
    cursor = page['next_cursor'] as string | null;
  }
  return items;
}

describe('submitting a manifest', () => {
  test('puts it before the reviewers, and tells the project', async () => {
    const team = await newTeam();
    const sent = sampleManifest();
    const answer = await submit(team, sent);
    expect(answer.status, answer.text).toBe(201);
    const { id } = answer.body;
    expect(answer.headers).toMatchObject({
      etag: '"1"',
      location: `/api/v1/projects/${team.project.id}/apps/submissions/${id}`,
    });
    expect(answer.body).toMatchObject({
      project_id: team.project.id,
      app_slug: sent.app['slug'],
      app_version: '1.0.0',
      status: 'submitted',
      submitted_by: `user:${team.developer.id}`,
      version: 1,
    });
    expect(await queue()).toContain(id);
    const view = await world.done(own('GET', team, id));
    expect(view).toEqual({ ...answer.body, manifest: view['manifest'] as Body });
    expect(view['manifest']).toMatchObject({ schema_version: 1, app: { slug: sent.app['slug'] } });
    expect(
      await world.done(
        world.ask(`GET ${ADMIN_ONE}`, reviewer, { params: { submission_id: String(id).toUpperCase() } }),
      ),
    ).toEqual(view);
    expect(await world.app(String(sent.app['slug'])), 'nothing is registered yet').toBeUndefined();
    expect(await world.audit(team.project.id)).toMatchObject([
      { action: 'manifests.submission.submit', subject: `submission:${id}`, after: { status: 'submitted' } },
    ]);
    expect(await world.events(team.project.id)).toMatchObject([
      { type: 'apps.submission.submitted', data: { submission_id: id, app_slug: sent.app['slug'] } },
    ]);
  });

  test('refuses a slug that is another’s, a version that has left draft, and an archived project', async () => {
    const [team, other] = [await newTeam(), await newTeam()];
    const mine = await world.scene.app(team.project, { status: 'draft' });
    const backend = { runtime_backend: 'launchable_oci' };
    expect(await codeOf(submit(other, sampleManifest({ slug: mine.slug, ...backend })))).toBe(
      'app.slug_taken',
    );
    const platforms = await world.scene.app();
    expect(await codeOf(submit(other, sampleManifest({ slug: platforms.slug })))).toBe('app.slug_taken');
    expect(
      await codeOf(submit(team, sampleManifest({ slug: mine.slug, runtime_backend: 'bare_metal' }))),
    ).toBe('app.backend_fixed');
    expect((await submit(team, sampleManifest({ slug: mine.slug }))).status).toBe(201);
    await world.scene.archive(team.project);
    world.world.forgetAuthorization();
    expect(await codeOf(submit(team))).toBe('project.archived');
  });

  test('refuses what is wrong with the manifest', async () => {
    const team = await newTeam();
    expect((await submit(team, sampleManifest({ slug: '' }))).body).toMatchObject({
      code: 'manifest.invalid',
      errors: expect.any(Array) as unknown,
    });
    expect(await world.audit(team.project.id)).toEqual([]);
  });
});

describe('a submission', () => {
  test('is unknown to another project, however it asks', async () => {
    const [team, other] = [await newTeam(), await newTeam()];
    const { id } = await submitted(team);
    for (const method of ['GET', 'PUT', 'POST'] as const) {
      const call = method === 'PUT' ? { body: sampleManifest() } : {};
      expect(await codeOf(own(method, other, id, call)), method).toBe('submission.unknown');
    }
    const list = await world.done(
      world.ask(LIST, other.developer, { params: { project_id: other.project.id } }),
    );
    expect(list['items']).toEqual([]);
  });

  test('is listed for its project, oldest first, by pages', async () => {
    const team = await newTeam();
    const ids = [];
    for (let index = 0; index < 3; index += 1) ids.push((await submitted(team))['id']);
    await world.world.indexed();
    const ask = (query: Record<string, string>) =>
      world.done(world.ask(LIST, team.developer, { params: { project_id: team.project.id }, query }));
    const first = await ask({ limit: '2' });
    const second = await ask({ limit: '2', cursor: String(first['next_cursor']) });
    expect([...first['items'], ...second['items']].map(({ id }: Body) => id as string)).toEqual(ids);
    expect(first['items'][0]).not.toHaveProperty('manifest');
  });

  test('is revised by whoever saw its present version', async () => {
    const team = await newTeam();
    const { id, manifest_digest } = await submitted(team);
    const better = sampleManifest({}, { version: '1.0.1' });
    const headers = { 'if-match': '"1"' };
    const revised = await own('PUT', team, id, { body: better, headers });
    expect(revised).toMatchObject({ status: 200, headers: { etag: '"2"' } });
    expect(revised.body).toMatchObject({
      status: 'submitted',
      app_version: '1.0.1',
      revised_by: `user:${team.developer.id}`,
      version: 2,
    });
    expect(revised.body['manifest_digest']).not.toBe(manifest_digest);
    expect((await world.done(own('GET', team, id)))['manifest']).toMatchObject({
      version: { version: '1.0.1' },
    });
    expect(await codeOf(own('PUT', team, id, { body: better, headers }))).toBe('precondition.failed');
    expect((await world.events(team.project.id)).map(({ type }) => type as string)).toEqual([
      'apps.submission.submitted',
      'apps.submission.revised',
    ]);
  });

  test('is not revised to a slug that is another’s', async () => {
    const team = await newTeam();
    const { id } = await submitted(team);
    const { slug } = await world.scene.app();
    expect(await codeOf(own('PUT', team, id, { body: sampleManifest({ slug }) }))).toBe('app.slug_taken');
  });

  test('is withdrawn by whoever saw its present version', async () => {
    const team = await newTeam();
    const { id } = await submitted(team);
    await world.done(own('PUT', team, id, { body: sampleManifest({}, { version: '1.0.1' }) }));
    const headers = { 'if-match': '"1"' };
    expect(await codeOf(own('POST', team, id, { headers }))).toBe('precondition.failed');
    expect((await own('POST', team, id, { headers: { 'if-match': '"2"' } })).status).toBe(200);
  });

  test('is withdrawn once, and then waits for nobody', async () => {
    const team = await newTeam();
    const { id } = await submitted(team);
    expect((await own('POST', team, id)).body).toMatchObject({ status: 'withdrawn', version: 2 });
    expect(await queue()).not.toContain(id);
    expect(await codeOf(own('POST', team, id))).toBe('submission.decided');
    expect(await codeOf(own('PUT', team, id, { body: sampleManifest() }))).toBe('submission.decided');
    expect(await codeOf(decide('approve', id))).toBe('submission.decided');
  });
});

describe('approving', () => {
  test('registers the version in draft for the project, in the same transaction', async () => {
    const team = await newTeam();
    const sent = sampleManifest();
    const slug = String(sent.app['slug']);
    const { id, manifest_digest } = await submitted(team, sent);
    const approved = await decide('approve', id, { body: { notes: 'Well made.' } });
    expect(approved).toMatchObject({
      status: 200,
      body: { status: 'approved', reviewed_by: `user:${reviewer.id}`, notes: 'Well made.', version: 2 },
    });
    expect(await world.app(slug)).toMatchObject({
      owner: { org_id: team.project.org_id, project_id: team.project.id },
      versions: { '1.0.0': { status: 'draft' } },
    });
    expect(await world.version(slug, '1.0.0')).toMatchObject({ status: 'draft', manifest_digest });
    expect(await world.manifest(slug, '1.0.0')).toMatchObject({ digest: manifest_digest });
    expect(await queue()).not.toContain(id);
    expect(await world.world.get(openSubmissionKey(id))).toBeUndefined();

    const told = (await world.audit(team.project.id)).slice(1);
    expect(told.map(({ subject }) => subject as string).sort()).toEqual(
      [`submission:${id}`, `app_version:${slug}@1.0.0`].sort(),
    );
    for (const row of told)
      expect(row).toMatchObject({
        action: 'manifests.submission.approve',
        actor: `user:${reviewer.id}`,
        reason: 'Well made.',
      });
    expect((await world.events(team.project.id)).map(({ type }) => type as string)).toEqual([
      'apps.submission.submitted',
      'apps.submission.approved',
      'apps.version.registered',
    ]);
  });

  test('is nobody’s own to do, neither for who submitted nor for who revised last', async () => {
    const team = await newTeam();
    const params = { project_id: team.project.id };
    const mine: Body = await world.done(world.ask(SUBMIT, reviewer, { params, body: sampleManifest() }));
    expect(await codeOf(decide('approve', mine['id']))).toBe('submission.own');
    const { id } = await submitted(team);
    await world.done(
      world.ask(`PUT ${ONE}`, reviewer, { params: { ...params, submission_id: id }, body: sampleManifest() }),
    );
    expect((await decide('approve', id)).body).toMatchObject({ code: 'submission.own', status: 403 });
    expect(await queue(), 'they still wait').toEqual(expect.arrayContaining([mine['id'], id]));
    await world.done(decide('reject', mine['id']));
    await world.done(decide('reject', id));
  });

  test('is refused when somebody else has registered the slug meanwhile, and changes nothing', async () => {
    const [team, other] = [await newTeam(), await newTeam()];
    const sent = sampleManifest();
    const [one, two] = [await submitted(team, sent), await submitted(other, sent)];
    await world.done(decide('approve', one['id']));
    expect(await codeOf(decide('approve', two['id']))).toBe('app.slug_taken');
    expect((await world.done(own('GET', other, two['id'])))['status']).toBe('submitted');
    expect(await world.audit(other.project.id)).toHaveLength(1);
    await world.done(decide('reject', two['id']));
  });

  test('holds a reviewer to what they saw, where they say what that was', async () => {
    const team = await newTeam();
    const { id } = await submitted(team);
    await world.done(own('PUT', team, id, { body: sampleManifest({}, { version: '6.6.6' }) }));
    const headers = { 'if-match': '"1"' };
    expect(await codeOf(decide('approve', id, { headers }))).toBe('precondition.failed');
    expect((await decide('approve', id, { headers: { 'if-match': '"2"' } })).status).toBe(200);
  });

  test('replaces the draft of an earlier submission, and adds versions to the app', async () => {
    const team = await newTeam();
    const sent = sampleManifest();
    const slug = String(sent.app['slug']);
    await world.done(decide('approve', (await submitted(team, sent))['id']));
    const again = { ...sent, version: { ...sent.version, release_notes: 'Second try.' } };
    await world.done(decide('approve', (await submitted(team, again))['id']));
    expect(await world.version(slug, '1.0.0')).toMatchObject({ release_notes: 'Second try.' });
    const next = { ...sent, version: { ...sent.version, version: '2.0.0' } };
    await world.done(decide('approve', (await submitted(team, next))['id']));
    expect(Object.keys((await world.app(slug))?.['versions'] as Body).sort()).toEqual(['1.0.0', '2.0.0']);
  });

  test('by several at once happens once', async () => {
    const team = await newTeam();
    const { id, app_slug } = await submitted(team);
    const answers = await Promise.all(Array.from({ length: 5 }, () => decide('approve', id)));
    const codes = answers.map(({ status, body }) => (status === 200 ? 'done' : String(body['code'])));
    expect(codes.filter((code) => code === 'done')).toHaveLength(1);
    expect(await world.app(app_slug)).toMatchObject({ revision: 1 });
    expect(
      (await world.events(team.project.id)).filter(({ type }) => type === 'apps.version.registered'),
    ).toHaveLength(1);
  });

  test('races with a revision: what is registered is what was approved', async () => {
    for (let round = 0; round < 8; round += 1) {
      const team = await newTeam();
      const sent = sampleManifest();
      const { id } = await submitted(team, sent);
      const revised = { ...sent, version: { ...sent.version, release_notes: 'Revised.' } };
      await Promise.all([decide('approve', id), own('PUT', team, id, { body: revised })]);
      const view = await world.done(own('GET', team, id));
      if (view['status'] !== 'approved') continue;
      expect(await world.version(String(sent.app['slug']), '1.0.0')).toMatchObject({
        manifest_digest: view['manifest_digest'],
        release_notes: view['manifest'].version.release_notes as string,
      });
    }
  });
});

describe('rejecting and asking for changes', () => {
  test.each(['reject', 'request-changes'] as const)('%s needs notes', async (verdict) => {
    const team = await newTeam();
    const { id } = await submitted(team);
    for (const body of [{}, { notes: '' }, { notes: 'x'.repeat(2001) }, { notes: '\u001b[2J' }])
      expect(await codeOf(decide(verdict, id, { body }))).toBe('request.invalid');
    expect((await decide(verdict, id, { body: { notes: 'x'.repeat(2000) } })).status).toBe(200);
  });

  test.each(['reject', 'request-changes'] as const)(
    '%s holds a reviewer to what they saw, where they say what that was',
    async (verdict) => {
      const team = await newTeam();
      const { id } = await submitted(team);
      await world.done(own('PUT', team, id, { body: sampleManifest({}, { version: '6.6.6' }) }));
      const headers = { 'if-match': '"1"' };
      expect(await codeOf(decide(verdict, id, { headers }))).toBe('precondition.failed');
      expect((await decide(verdict, id, { headers: { 'if-match': '"2"' } })).status).toBe(200);
    },
  );

  test('rejects for good, saying why', async () => {
    const team = await newTeam();
    const { id, app_slug } = await submitted(team);
    const rejected = await decide('reject', id, { body: { notes: 'It mines coins.' } });
    expect(rejected.body).toMatchObject({ status: 'rejected', notes: 'It mines coins.' });
    expect(await world.app(app_slug)).toBeUndefined();
    for (const verdict of ['approve', 'reject', 'request-changes'] as const)
      expect(await codeOf(decide(verdict, id))).toBe('submission.decided');
    expect(await codeOf(own('PUT', team, id, { body: sampleManifest() }))).toBe('submission.decided');
    expect((await world.audit(team.project.id)).at(-1)).toMatchObject({
      action: 'manifests.submission.reject',
      reason: 'It mines coins.',
      before: { status: 'submitted' },
      after: { status: 'rejected' },
    });
  });

  test('sends it back to who submitted it; revised, it waits for a reviewer again', async () => {
    const team = await newTeam();
    const { id } = await submitted(team);
    await world.done(decide('request-changes', id));
    expect(await queue()).not.toContain(id);
    expect((await decide('approve', id)).body).toMatchObject({
      code: 'submission.decided',
      detail: expect.stringContaining('Changes were requested') as string,
    });
    const revised = await world.done(own('PUT', team, id, { body: sampleManifest() }));
    expect(revised).toMatchObject({ status: 'submitted', notes: 'As it is, it cannot stay.', version: 3 });
    expect(await queue()).toContain(id);
    await world.done(decide('approve', id));
    expect((await world.events(team.project.id)).map(({ type }) => type as string)).toEqual([
      'apps.submission.submitted',
      'apps.submission.changes_requested',
      'apps.submission.revised',
      'apps.submission.approved',
      'apps.version.registered',
    ]);
  });

  test('lets who submitted it withdraw it instead', async () => {
    const team = await newTeam();
    const { id } = await submitted(team);
    await world.done(decide('request-changes', id));
    expect((await own('POST', team, id)).body).toMatchObject({ status: 'withdrawn' });
  });
});
