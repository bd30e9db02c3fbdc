import { DescribeRepositoriesCommand, ECRClient } from '@aws-sdk/client-ecr';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { judgeUnwrap, unwrapped } from '../../functions/publishing/intent.ts';
import { planTrustPolicy } from '../../functions/trust/trust-policy.ts';
import { intentKey } from '../../functions/publishing/keys.ts';
import { findTrustPolicyAndHead, saveTrustPolicy } from '../../functions/artifacts/trust-store.ts';
import type { Project } from '../../functions/identity/project.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { type Answer, openWorld, type World } from '../api/world.ts';
import { announce } from './recipes-publish.ts';

const INTENTS = 'POST /api/v1/projects/{project_id}/app-artifacts/publish-intents';
const UNWRAP = `${INTENTS}/{intent_id}/unwrap`;
const GET = 'GET /api/v1/projects/{project_id}/app-artifacts/publish-intents/{intent_id}';

let world: World;
let scene: Scene;
let project: Project;
let admin: Person;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  ({ project, admin } = await scene.place());
});

afterAll(() => world.close());

interface Shown {
  id: string;
  code: string;
  wrapping_token: string;
  errors: { pointer: string }[];
}

const create = (body: object, of: { project: Project; admin: Person } = { project, admin }) =>
  world.call(INTENTS, {
    params: { project_id: of.project.id },
    body: { app_slug: scene.slug(), app_version: '1.2.0', artifact_name: 'runtime', ...body },
    token: of.admin.token,
    headers: { 'x-idempotency-key': newId() },
  });

const unwrap = (intent_id: string, wrapping_token: string, key = newId()): Promise<Answer> =>
  world.call(UNWRAP, {
    params: { project_id: project.id, intent_id },
    body: { wrapping_token },
    token: admin.token,
    headers: { 'x-idempotency-key': key },
  });

interface Credential {
  repository: string;
  username: string;
  password: string;
  expires_at: string;
}

const PERMISSIONS = [
  'ecr:BatchGetImage',
  'ecr:BatchCheckLayerAvailability',
  'ecr:InitiateLayerUpload',
  'ecr:UploadLayerPart',
  'ecr:CompleteLayerUpload',
  'ecr:PutImage',
];
const OTHERS = ['ecr:GetDownloadUrlForLayer', 'ecr:ListImages', 'ecr:BatchDeleteImage'];

/** What the registry would let its holder do in the repository. */
function allowed({ username, password }: Credential, repository: string): string[] {
  const { tokens } = world.services;
  const caller = tokens.whoSends(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`);
  if (typeof caller === 'string') return [caller];
  return [...PERMISSIONS, ...OTHERS].filter(
    (permission) => tokens.reasonToDeny(caller, { repository, permissions: [permission] }) === undefined,
  );
}

const show = async (intent_id: string) =>
  (await world.call(GET, { params: { project_id: project.id, intent_id }, token: admin.token }))
    .body as Record<string, unknown>;

describe('a publish intent', () => {
  test('tells where to push, with what and what a signature must be', async () => {
    const app_slug = scene.slug();
    const answer = await create({ app_slug, app_version: '1.2.0+build.7', channel: 'beta', variant: 'cpu' });
    expect(answer.status).toBe(201);
    const repository = `gpuaas/apps/${project.slug}/${app_slug}`;
    const { id } = answer.body as Shown;
    const tag = `beta-1.2.0_build.7-${id.slice(-8)}`;
    const path = `/api/v1/projects/${project.id}/app-artifacts/publish-intents/${id}`;
    expect(answer.headers['location']).toBe(path);
    expect(answer.body).toEqual({
      id,
      project_id: project.id,
      app_slug,
      app_version: '1.2.0+build.7',
      artifact_name: 'runtime',
      variant: 'cpu',
      artifact_kind: 'oci',
      source_type: 'oci_registry',
      channel: 'beta',
      status: 'open',
      registry_host: 'registry.invalid',
      repository,
      tag,
      image: `registry.invalid/${repository}:${tag}`,
      source_uri: `oci://${repository}`,
      signature_required: true,
      signature_scheme: 'notation-jws',
      signing_key_id: null,
      trust_policy: null,
      accepted_identities: [],
      provenance_required: false,
      credential_ttl_seconds: 900,
      credential_expires_at: null,
      unwrap_path: `${path}/unwrap`,
      wrapping_token: expect.stringMatching(/^[\w-]{43}$/),
      created_by: `user:${admin.id}`,
      created_at: expect.any(String),
      expires_at: expect.any(String),
    });
    expect(tag).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/);
  });

  test('is shown later without its token, which is nowhere in the table', async () => {
    const { id, wrapping_token, ...created } = (await create({})).body as Shown & Record<string, unknown>;
    expect(await show(id)).toEqual({ id, ...created });
    expect(JSON.stringify(await world.items(''))).not.toContain(wrapping_token);
    const kept = await world.get(intentKey(id));
    expect(kept).toMatchObject({ token_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('opens the repository, whose tags stay but for lists of signatures, once', async () => {
    const app_slug = scene.slug();
    const repository = `gpuaas/apps/${project.slug}/${app_slug}`;
    await create({ app_slug });
    await create({ app_slug, app_version: '1.3.0' });
    const ecr = new ECRClient(world.services.asOperator());
    const { repositories } = await ecr.send(
      new DescribeRepositoriesCommand({ repositoryNames: [repository] }),
    );
    expect(repositories).toMatchObject([
      {
        imageTagMutability: 'IMMUTABLE_WITH_EXCLUSION',
        imageTagMutabilityExclusionFilters: [{ filterType: 'WILDCARD', filter: 'sha256-*' }],
      },
    ]);
    expect(await world.get({ pk: 'REPOSITORIES', sk: repository })).toMatchObject({
      name: repository,
      project_id: project.id,
      app_slug,
      created_at: expect.any(String),
    });
  });

  test('keeps its repository open for a credential that is unwrapped at the last moment', async () => {
    const app_slug = scene.slug();
    const { expires_at } = (await create({ app_slug })).body as { expires_at: string };
    const row = await world.get({ pk: 'REPOSITORIES', sk: `gpuaas/apps/${project.slug}/${app_slug}` });
    const { intent } = await announce(scene, project, { open_until: expires_at });
    const latest = unwrapped({ ...intent, credential_ttl_seconds: 3600 }, 'user:x', new Date(expires_at));
    expect(row).toMatchObject({ open_until: latest.credential_expires_at });
  });

  test('for a file tells where to upload it instead', async () => {
    const app_slug = scene.slug();
    const answer = await create({ app_slug, artifact_kind: 'blob', artifact_name: 'weights' });
    const source_uri = `artifact_store://projects/${project.id}/artifacts/${app_slug}/1.2.0/weights`;
    expect(answer.body).toMatchObject({ source_type: 'artifact_store', source_uri, status: 'open' });
    expect(answer.body).toHaveProperty('upload_path');
    for (const of_images of ['tag', 'image', 'registry_host', 'wrapping_token', 'unwrap_path'])
      expect(answer.body).not.toHaveProperty(of_images);
  });

  test('repeats what the policy over its repository asks for', async () => {
    const place = await scene.place();
    const { rootPem } = createDevelopmentChain({ organisation: 'Example' });
    const name = scene.slug();
    const { head } = await findTrustPolicyAndHead(name);
    const policy = planTrustPolicy(
      undefined,
      name,
      {
        description: '',
        repository_pattern: `gpuaas/apps/${place.project.slug}/*`,
        roots: [rootPem],
        identities: ['O=Example,CN=release'],
        provenance: { required: false, builders: [], source_repositories: [] },
      },
      'user:somebody',
      new Date(),
    );
    await commit(saveTrustPolicy(head, undefined, policy, undefined));
    expect((await create({}, place)).body).toMatchObject({
      trust_policy: name,
      signing_key_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      accepted_identities: ['O=Example,CN=release'],
      provenance_required: false,
    });
  });

  test.each([
    ['a kind that lies elsewhere', { artifact_kind: 'blob', source_type: 'oci_registry' }, '/source_type'],
    ['the digest of an image to come', { digest: `sha256:${'a'.repeat(64)}` }, '/digest'],
    ['a credential for longer than an hour', { credential_ttl_seconds: 3601 }, '/credential_ttl_seconds'],
    ['a credential for less than a minute', { credential_ttl_seconds: 59 }, '/credential_ttl_seconds'],
    ['a name that would leave its place', { artifact_name: '../weights' }, '/artifact_name'],
  ])('is refused with %s', async (_, body, pointer) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect((answer.body as Shown).errors.map((fault) => fault.pointer)).toEqual([pointer]);
  });

  test('is refused in a project that is archived', async () => {
    const place = await scene.place();
    await scene.archive(place.project);
    expect((await create({}, place)).body).toMatchObject({ code: 'project.archived' });
  });

  test('is made beside nineteen others of its project at once, and none of them meets another', async () => {
    const apps = Array.from({ length: 20 }, () => scene.slug());
    const before = world.conflicts();
    const answers = await Promise.all(apps.map((app_slug) => create({ app_slug })));
    expect(world.conflicts()).toBe(before);
    expect(answers.map(({ status }) => status)).toEqual(apps.map(() => 201));
  });

  test('is made beside nine others of its app at once, though all of them open one repository', async () => {
    const app_slug = scene.slug();
    const before = world.conflicts();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ app_slug })));
    expect(world.conflicts()).toBeGreaterThan(before);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  });

  test('may be for an app of the platform or one to come, not for somebody else’s', async () => {
    const theirs = await scene.app((await scene.place()).project);
    const platforms = await scene.app();
    const own = await scene.app(project);
    const codes = [theirs, platforms, own].map(async ({ slug }) => {
      const { status, body } = await create({ app_slug: slug });
      return (body as Shown).code ?? status;
    });
    expect(await Promise.all(codes)).toEqual(['app.slug_taken', 201, 201]);
  });

  test('is of its project: another one is answered as if it never was, to read and to unwrap', async () => {
    const { id, wrapping_token } = (await create({})).body as Shown;
    const place = await scene.place();
    const askFor = async (intent_id: string) => {
      const call = { params: { project_id: place.project.id, intent_id }, token: place.admin.token };
      const body = { wrapping_token };
      const headers = { 'x-idempotency-key': newId() };
      const answers = [await world.call(GET, call), await world.call(UNWRAP, { ...call, body, headers })];
      return answers.map((answer) => ({ ...(answer.body as object), correlation_id: undefined }));
    };
    const [theirs, none] = [await askFor(id), await askFor(newId())];
    expect(theirs).toMatchObject([{ code: 'intent.unknown' }, { code: 'intent.unknown' }]);
    expect(theirs).toEqual(none);
    expect(await show(id)).toMatchObject({ status: 'open' });
  });
});

describe('a credential', () => {
  test('is unwrapped with the token, for as long as was asked for', async () => {
    const { id, wrapping_token } = (await create({ credential_ttl_seconds: 60 })).body as Shown;
    const askedMs = Date.now();
    const answer = await unwrap(id, wrapping_token);
    expect(answer.status).toBe(200);
    const { expires_at } = answer.body as { expires_at: string };
    expect(answer.body).toEqual({
      registry_host: 'registry.invalid',
      repository: expect.stringContaining(project.slug),
      username: 'AWS',
      password: expect.any(String),
      expires_at,
    });
    expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(askedMs + 59_000);
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.now() + 60_000);
    expect(await show(id)).toMatchObject({
      status: 'unwrapped',
      unwrapped_by: `user:${admin.id}`,
      credential_expires_at: expires_at,
    });
  });

  test('pushes to its own repository, reads no layer there, and does nothing anywhere else', async () => {
    const { repository: sibling } = (await create({})).body as Credential;
    const { id, wrapping_token, repository } = (await create({})).body as Shown & Credential;
    const credential = (await unwrap(id, wrapping_token)).body as Credential;
    expect(allowed(credential, repository)).toEqual(PERMISSIONS);
    expect(allowed(credential, sibling)).toEqual([]);
  });

  test('pushes for as long as was asked for, and no longer', async () => {
    const { id, wrapping_token } = (await create({ credential_ttl_seconds: 60 })).body as Shown;
    const credential = (await unwrap(id, wrapping_token)).body as Credential;
    const { repository, expires_at } = credential;
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(expires_at) - 1000 });
    try {
      expect(allowed(credential, repository)).toEqual(PERMISSIONS);
      vi.setSystemTime(Date.parse(expires_at) + 1000);
      expect(allowed(credential, repository)).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is told again to who lost the answer, and to nobody else', async () => {
    const { intent, token } = await announce(scene, project);
    const key = newId();
    const first = await unwrap(intent.id, token, key);
    expect((await unwrap(intent.id, token, key)).text).toBe(first.text);
    expect((await unwrap(intent.id, token)).body).toMatchObject({ code: 'intent.unwrapped' });
  });

  test('is unwrapped by one of many who try at once; the others are written down and told', async () => {
    const { intent, token } = await announce(scene, project);
    const answers = await Promise.all(Array.from({ length: 6 }, () => unwrap(intent.id, token)));
    const codes = answers.map(({ status, body }) => (body as Shown).code ?? String(status));
    expect(codes.sort()).toEqual(['200', ...Array<string>(5).fill('intent.unwrapped')]);
    const subject = `publish_intent:${intent.id}`;
    const audited = (await world.items('AUDIT#')).filter((row) => row['subject'] === subject);
    expect(audited.filter(({ after }) => (after as { refused?: string }).refused)).toHaveLength(5);
    expect(audited).toHaveLength(6);
    const events = (await world.items('OUTBOX#'))
      .map(({ event }) => event as { type: string; data: { intent_id: string } })
      .filter(({ data }) => data.intent_id === intent.id);
    expect(events.map(({ type }) => type).sort()).toEqual([
      'apps.artifact.intent_unwrapped',
      ...Array<string>(5).fill('apps.artifact.unwrap_refused'),
    ]);
  });

  test('is not unwrapped with another token, and whoever tries is counted for the alarm', async () => {
    const { intent } = await announce(scene, project);
    const lines: string[] = [];
    const written = vi
      .spyOn(process.stdout, 'write')
      .mockImplementation((line) => lines.push(String(line)) > 0);
    const answer = await unwrap(intent.id, 'x'.repeat(43));
    written.mockRestore();
    expect(answer).toMatchObject({ status: 403, body: { code: 'intent.wrong_token' } });
    expect(await show(intent.id)).toMatchObject({ status: 'open' });
    const counted = lines.filter((line) => line.includes('written_refusals')).map((line) => JSON.parse(line));
    expect(counted).toMatchObject([{ code: 'intent.wrong_token', written_refusals: 1 }]);
  });

  test('is not there for a file: no token fits', async () => {
    const { id } = (await create({ artifact_kind: 'blob' })).body as Shown;
    expect((await unwrap(id, 'x'.repeat(43))).body).toMatchObject({ code: 'intent.wrong_token' });
  });

  test('is not unwrapped after its intent has expired', async () => {
    const { intent, token } = await announce(scene, project, { open_until: '2026-01-01T00:00:00.000Z' });
    expect((await unwrap(intent.id, token)).body).toMatchObject({ code: 'intent.expired' });
    expect(await show(intent.id)).toMatchObject({ status: 'expired', expires_at: intent.open_until });
  });
});

describe('the rule of unwrapping', () => {
  const now = new Date('2026-06-01T12:00:00.000Z');
  const [past, future] = ['2026-06-01T12:00:00.000Z', '2026-06-01T12:00:00.001Z'];

  test.each([
    ['open', future, true, 'unwrap'],
    ['open', past, true, 'intent.expired'],
    ['expired', past, true, 'intent.expired'],
    ['unwrapped', future, true, 'intent.unwrapped'],
    ['unwrapped', past, true, 'intent.unwrapped'],
    ['open', future, false, 'intent.wrong_token'],
    ['unwrapped', past, false, 'intent.wrong_token'],
  ] as const)('%s until %s, the token right: %s → %s', async (status, open_until, isRight, verdict) => {
    const { intent } = await announce(scene, project, { status, open_until });
    expect(judgeUnwrap(intent, isRight, now)).toBe(verdict);
  });
});
