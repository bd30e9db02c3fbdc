import { hash, randomUUID } from 'node:crypto';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, inject, test } from 'vitest';
import { instanceUseKey } from '../../functions/artifacts/keys.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { signDescriptor } from '../../sdk/signing/notation.ts';
import { keySigner } from '../../sdk/signing/signer.ts';
import { until } from '../until.ts';
import { awaitPeopleAtSmoke, call, createPlace, done, type Place } from './people.ts';
import { readCredentials } from './signed-fetch.ts';

// An artifact and the version over it, from draft to the day it is revoked, with the rights the platform's own
// functions have: the workflow's steps, what the relay does about a revocation, and what launches are told.

const ready = inject('platform');
const chain = createDevelopmentChain({ organisation: 'Lifecycle' });
const signer = keySigner(chain);
const ADMIN = { as: 'admin' } as const;
const REASON = { reason: 'It was tried.' };
const slug = `lifecycle-${randomUUID().slice(0, 8)}`;

interface Intent {
  repository: string;
  source_uri: string;
  upload_path: string;
  signature_upload_path: string;
}
interface Artifact {
  id: string;
  digest: string;
  lifecycle_state: string;
  trust_state: string;
}
type Body = Record<string, unknown>;

let place: Place;
let artifact: Artifact;

const artifacts = (path = ''): string => `/api/v1/projects/${place.project_id}/app-artifacts${path}`;
const ofArtifact = (path = ''): string => artifacts(`/${artifact.id}${path}`);
const ofVersion = (verb: string): string => `/api/v1/admin/apps/catalog/${slug}/versions/1.0.0/${verb}`;
const promotionOf = (path: string): Promise<Body> => done<Body>('GET', `${path}/promotion`, ADMIN);

async function ended(path: string): Promise<Body> {
  return until(async () => {
    const promotion = await promotionOf(path);
    return promotion['step'] === 'ended' && promotion;
  }, `the promotion of ${path}`);
}

async function offered(): Promise<{ launchable: boolean; reasons: Body[] } | undefined> {
  const path = `/api/v1/projects/${place.project_id}/apps/catalog?search=${slug}`;
  const { items } = await done<{ items: { launchable: boolean; reasons: Body[] }[] }>('GET', path, ADMIN);
  return items[0];
}

beforeAll(async () => {
  await awaitPeopleAtSmoke();
  place = await createPlace('lifecycle');
  const named = { app_slug: slug, app_version: '1.0.0', artifact_name: 'weights', artifact_kind: 'blob' };
  const intent = await done<Intent>('POST', artifacts('/publish-intents'), { ...ADMIN, body: named });
  const { repository, source_uri } = intent;
  const policy = { repository_pattern: repository, roots: [chain.rootPem], identities: ['O=Lifecycle'] };
  await done('PUT', `/api/v1/admin/artifacts/trust-policies/${slug}`, { ...ADMIN, body: policy });
  const content = Buffer.from(randomUUID());
  const digest = `sha256:${hash('sha256', content)}`;
  const descriptor = { mediaType: 'application/octet-stream', digest, size: content.length };
  const signature = await signDescriptor(descriptor, signer, { signedAt: new Date() });
  for (const [url, body] of [
    [intent.upload_path, content],
    [intent.signature_upload_path, signature],
  ] as const)
    expect((await fetch(url, { method: 'PUT', body: new Uint8Array(body) })).status).toBe(200);
  artifact = await done('POST', artifacts(), { ...ADMIN, body: { ...named, source_uri, digest } });
  const app = {
    slug,
    display_name: 'A cluster',
    description: 'It.',
    category: 'scheduler',
    runtime_backend: 'slurm',
  };
  const external_worker_contract = {
    delivery: 'polling',
    root: {
      component_key: 'controller',
      allocation_id_key: 'controller_allocation_id',
      requested_phase: 'controller_requested',
      bound_phase: 'controller_allocation_bound',
    },
  };
  const version = {
    version: '1.0.0',
    release_notes: 'The first one.',
    artifacts: [{ name: 'weights', artifact_kind: 'blob', repository, digest }],
    external_worker_contract,
  };
  const body = { app, version };
  const manifests = '/api/v1/admin/apps/manifests';
  await done('POST', `${manifests}?project_id=${place.project_id}`, { ...ADMIN, body });
  const entitlement = `/api/v1/projects/${place.project_id}/apps/entitlements/${slug}`;
  await done('PUT', entitlement, { ...ADMIN, body: { enabled: true } });
});

test('a version waits for its artifact, which is verified on its way to active', async () => {
  const refused = await call('POST', ofVersion('publish'), { ...ADMIN, body: REASON });
  expect(refused.body).toMatchObject({ code: 'version.artifacts_unready' });
  const body = { ...REASON, target: 'active' };
  await done('POST', ofArtifact('/promote'), { ...ADMIN, body });
  expect(await ended(ofArtifact())).toMatchObject({
    status: 'succeeded',
    lifecycle_state: 'active',
    gates: { verification: { verdict: 'verified' } },
    waiting_for: null,
  });
  await done('POST', ofVersion('publish'), { ...ADMIN, body: { ...REASON, bake_seconds: 0 } });
  const version = `/api/v1/apps/catalog/${slug}/versions/1.0.0`;
  await until(async () => (await promotionOf(version))['step'] === 'awaiting_smoke', 'the smoke run');
  await done('POST', ofVersion('smoke'), { ...ADMIN, body: { verdict: 'passed' } });
  expect(await ended(version)).toMatchObject({ status: 'succeeded', version_status: 'active' });
  expect(await offered()).toMatchObject({ launchable: true });
});

test('an active version keeps its artifact where it is', async () => {
  expect((await call('POST', ofArtifact('/deprecate'), { ...ADMIN, body: REASON })).body).toMatchObject({
    status: 409,
    code: 'artifact.in_use',
  });
  expect(await done('GET', ofArtifact('/usage'), ADMIN)).toMatchObject({
    versions: [{ app_slug: slug, version: '1.0.0', status: 'active' }],
  });
});

test('once revoked, nobody launches it, and what runs it is asked to stop', async () => {
  const instanceId = randomUUID();
  await runInstance(instanceId);
  const body = { reason: 'It phones home.', stop_instances: true };
  const preview = await done<Body>('POST', ofArtifact('/revoke/dry-run'), { ...ADMIN, body });
  expect(preview).toMatchObject({ instances: [{ app_instance_id: instanceId }] });
  expect(await offered()).toMatchObject({ launchable: true });
  await done('POST', ofArtifact('/revoke'), { ...ADMIN, body });
  expect(await offered()).toMatchObject({
    launchable: false,
    reasons: [{ code: 'artifact.untrusted' }],
  });
  const feed = `/api/v1/projects/${place.project_id}/events?limit=100`;
  const stop = await until(async () => {
    const { items } = await done<{ items: { type: string; data: Body }[] }>('GET', feed, ADMIN);
    return items.find(({ type }) => type === 'apps.instance.stop_requested');
  }, 'the instance to be asked to stop');
  expect(stop.data).toMatchObject({ app_instance_id: instanceId, reason: 'artifact.revoked' });
});

test('what is revoked can still be taken out of use', async () => {
  await done('POST', ofVersion('deprecate'), { ...ADMIN, body: { ...REASON, grace_seconds: 0 } });
  await done('POST', ofArtifact('/deprecate'), { ...ADMIN, body: { ...REASON, grace_seconds: 0 } });
  expect((await call('POST', ofArtifact('/retire'), { ...ADMIN, body: REASON })).body).toMatchObject({
    code: 'artifact.in_use',
  });
  expect(await done('GET', ofArtifact(), ADMIN)).toMatchObject({
    lifecycle_state: 'deprecated',
    trust_state: 'revoked',
  });
});

/** As an instance will say of itself that it runs the bytes. */
async function runInstance(app_instance_id: string): Promise<void> {
  const credentials = readCredentials(ready);
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint: ready.aws_endpoint, region: ready.region, credentials }),
  );
  const { TableNames = [] } = await client.send(new ListTablesCommand({}));
  const row = { app_instance_id, ...place, app_slug: slug, app_version: '1.0.0' };
  await client.send(
    new PutCommand({
      TableName: TableNames.find((name) => /Control/i.test(name)),
      Item: {
        ...instanceUseKey(artifact.digest, app_instance_id),
        ...row,
        started_at: new Date().toISOString(),
      },
    }),
  );
}
