import { hash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { shellBlocksOf } from '../docs/shell-blocks.ts';
import { until } from '../until.ts';
import { call, tokenOf } from './people.ts';
import { findShownSecrets, plant } from './planted-secrets.ts';
import { runCommands } from './run-documents.ts';

// docs/quickstart.md, copied into one shell from top to bottom.

const ready = inject('platform');
const { project_id, app_slug, app_version } = ready.demo;
const PAGE = 'docs/quickstart.md';
const MARK = '=== ';

type Json = Record<string, unknown>;

/** What the commands under each heading printed. */
const printed = new Map<string, string>();
let work = '';
let saToken = '';

beforeAll(async () => {
  const script = shellBlocksOf(PAGE).map(
    ({ heading, commands }) => `echo; echo '${MARK}${heading}'\n${commands}`,
  );
  const output = await runCommands([...script, `echo; echo '${MARK}end'; echo "$WORK"`].join('\n'));
  for (const part of output.split(`\n${MARK}`).slice(1)) {
    const [heading = '', ...lines] = part.split('\n');
    const step = heading.split(':')[0] ?? '';
    printed.set(step, `${printed.get(step) ?? ''}${lines.join('\n')}\n`);
  }
  work = printed.get('end')?.trim() ?? '';
  saToken = String(kept('token.json')['access_token']);
}, 180_000);

afterAll(() => rmSync(work, { recursive: true, force: true }));

/** The answers that a step printed, in their order. */
const answersOf = (step: string): Json[] =>
  (printed.get(step) ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Json);

const kept = (name: string): Json => JSON.parse(readFileSync(join(work, name), 'utf8')) as Json;

test('the steps of the original are there, in its order', () => {
  const steps = [...printed.keys()].filter((heading) => heading.startsWith('Step'));
  expect(steps).toEqual(['Step 1', 'Step 2', 'Step 3', 'Step 4', 'Step 4a', 'Step 5', 'Step 6a', 'Step 6b']);
});

test('steps 1 to 3: a person creates a service account, and its token works in the project', async () => {
  expect(answersOf('Step 3')).toMatchObject([{ token_type: 'Bearer', expires_in: 900 }]);
  const read = await call('GET', `/api/v1/projects/${project_id}`, { token: saToken });
  expect(read.status).toBe(200);
  const path = `/api/v1/projects/${project_id}/audit?action=identity.service_account.create`;
  const { items } = (await call<{ items: { subject: string }[] }>('GET', path, { as: 'owner' })).body;
  expect(items.map(({ subject }) => subject)).toContain(
    `service_account:${String(kept('service-account.json')['id'])}`,
  );
});

test('steps 4 and 4a: the catalogue has an active version, the registry says how it is used', () => {
  const [apps, versions] = answersOf('Step 4') as { items: Json[] }[];
  const slugs = apps?.items.map(({ slug }) => slug);
  expect(slugs).toEqual(
    expect.arrayContaining(['hello-web', 'jupyterlab', 'slurm-reference', 'vllm-openai']),
  );
  expect(versions?.items).toMatchObject([{ app_slug, version: app_version, status: 'active' }]);
  expect(answersOf('Step 4a')).toMatchObject([
    {
      registry_host: ready.registry,
      namespace_ownership: 'project',
      digest_only: true,
      private_repositories: true,
    },
  ]);
});

test('step 5: the project is entitled, and may launch', () => {
  const asked = { allowed_operating_modes: ['tenant_dedicated'], allowed_control_plane_scopes: ['project'] };
  const [entitlement, launchable] = answersOf('Step 5');
  expect(entitlement).toMatchObject({
    app_slug,
    enabled: true,
    policy_overrides: asked,
    effective: { enabled: true, ...asked },
    source: 'project',
  });
  const items = launchable?.['items'] as Json[];
  expect(items.find(({ slug }) => slug === app_slug)).toMatchObject({
    entitled: true,
    launchable: true,
    launch_version: app_version,
    reasons: [],
  });
});

describe('steps 6a and 6b', () => {
  test('6a: an image is pushed, signed, registered and verified', async () => {
    const intent = kept('image-intent.json');
    plant('a wrapping token', String(intent['wrapping_token']));
    plant('the password of a registry', String(kept('credential.json')['password']));
    expect(intent).toMatchObject({
      repository: `gpuaas/apps/example/${app_slug}`,
      registry_host: ready.registry,
      signature_required: true,
      signature_scheme: 'notation-jws',
      signing_key_id: expect.any(String) as string,
      provenance_required: false,
    });
    const [, registered, verified] = answersOf('Step 6a');
    expect(registered).toMatchObject({
      artifact_kind: 'oci',
      artifact_name: 'runtime',
      tag: 'dev-latest',
      lifecycle_state: 'draft',
      trust_state: 'unverified',
      platforms: [{ user: '1000' }],
    });
    expect(registered).not.toHaveProperty('variant');
    expect(verified).toMatchObject({ id: registered?.['id'], trust_state: 'verified' });
    await stage(String(registered?.['id']));
  });

  test('6b: a file is uploaded, signed, registered and verified', async () => {
    const intent = kept('file-intent.json');
    for (const name of ['upload_path', 'signature_upload_path', 'provenance_upload_path'])
      plant(name, new URL(String(intent[name])).searchParams.get('X-Amz-Signature') ?? '');
    const [, registered, verified] = answersOf('Step 6b');
    expect(registered).toMatchObject({
      artifact_kind: 'blob',
      artifact_name: 'weights',
      size_bytes: 100_000,
      object: { version_id: expect.any(String) as string },
      source_uri: intent['source_uri'],
      lifecycle_state: 'draft',
    });
    expect(verified).toMatchObject({ id: registered?.['id'], trust_state: 'verified' });
    await stage(String(registered?.['id']));

    // What is written there later is another version of the object, and nobody's artifact.
    await fetch(String(intent['upload_path']), { method: 'PUT', body: 'other weights' });
    const path = `/api/v1/projects/${project_id}/app-artifacts`;
    const again = await call('POST', `${path}/${String(registered?.['id'])}/verify`, { token: saToken });
    expect(again.body).toMatchObject({ digest: registered?.['digest'], trust_state: 'verified' });
    const other = { app_slug, app_version, artifact_name: 'weights', artifact_kind: 'blob' };
    const digest = `sha256:${hash('sha256', 'never uploaded')}`;
    const late = await call('POST', path, { token: saToken, body: { ...other, digest } });
    expect(late).toMatchObject({ status: 422, body: { code: 'artifact.mismatched' } });
  });

  test('what was handed out to publish with can be read nowhere', async () => {
    expect(await findShownSecrets()).toEqual([]);
  });

  /** Taking it further is the platform's decision, not the publisher's. */
  async function stage(id: string): Promise<void> {
    const path = `/api/v1/projects/${project_id}/app-artifacts/${id}`;
    const body = { target: 'staged', reason: 'It is signed by our own release.' };
    expect((await call('POST', `${path}/promote`, { token: saToken, body })).status).toBe(403);
    const promoted = await call('POST', `${path}/promote`, { token: await tokenOf('admin'), body });
    expect(promoted.status, promoted.text).toBe(202);
    const staged = await until(async () => {
      const { body: artifact } = await call('GET', path, { token: saToken });
      return artifact['lifecycle_state'] !== 'draft' && artifact;
    }, 'the artifact to be staged');
    expect(staged).toMatchObject({ lifecycle_state: 'staged', trust_state: 'verified' });
  }
});

test('the schema of manifests is served to whoever asks', async () => {
  const answer = await fetch(`${ready.api_url}/api/v1/schemas/app-manifest/v1`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/schema+json');
  expect(await answer.json()).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
});
