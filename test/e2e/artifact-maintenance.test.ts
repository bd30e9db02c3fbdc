import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { dueKey } from '../../functions/artifacts/keys.ts';
import { artifactKey } from '../../functions/catalog/readiness.ts';
import type { Key } from '../../functions/platform/data/table.ts';
import { intentKey } from '../../functions/publishing/keys.ts';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { signDescriptor } from '../../sdk/signing/notation.ts';
import { keySigner } from '../../sdk/signing/signer.ts';
import { until } from '../until.ts';
import { call, createPlace, done, type Place } from './people.ts';
import { dataDir } from './planted-secrets.ts';
import { readCredentials } from './signed-fetch.ts';
import { beforeAll, expect, inject, test } from 'vitest';

// What the platform does about artifacts by itself, with the rights its own functions have.

interface Artifact {
  id: string;
  trust_state: string;
  verification: { signer: { fingerprint: string }; fault?: { code: string } };
}

interface Intent {
  id: string;
  repository: string;
  source_uri: string;
  upload_path: string;
  signature_upload_path: string;
}

const ready = inject('platform');
const operator = { endpoint: ready.aws_endpoint, region: ready.region, credentials: readCredentials(ready) };
const chain = createDevelopmentChain({ organisation: 'Care' });
const ADMIN = { as: 'admin' } as const;
const LONG_AGO = '2026-01-01T00:00:00.000Z';
const TRUST = '/api/v1/admin/artifacts';

let place: Place;
let intent: Intent;
let artifact: Artifact;

const artifacts = (): string => `/api/v1/projects/${place.project_id}/app-artifacts`;
const read = (): Promise<Artifact> => done('GET', `${artifacts()}/${artifact.id}`, ADMIN);

/** Runs it as its schedule would. */
async function invoke(name: string): Promise<void> {
  const FunctionName = `GpuaasArtifacts-${name}`;
  const { FunctionError } = await new LambdaClient(operator).send(new InvokeCommand({ FunctionName }));
  expect(FunctionError).toBeUndefined();
}

/** As if it had been written long ago. */
async function age(key: Key, ...attributes: string[]): Promise<void> {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(operator));
  const { TableNames = [] } = await client.send(new ListTablesCommand({}));
  await client.send(
    new UpdateCommand({
      TableName: TableNames.find((name) => /Control/i.test(name)),
      Key: key,
      UpdateExpression: `SET ${attributes.map((name) => `${name} = :then`).join(', ')}`,
      ExpressionAttributeValues: { ':then': LONG_AGO },
    }),
  );
}

beforeAll(async () => {
  place = await createPlace('care');
  const named = { app_slug: 'care', app_version: '1.0.0', artifact_name: 'weights', artifact_kind: 'blob' };
  intent = await done<Intent>('POST', `${artifacts()}/publish-intents`, { ...ADMIN, body: named });
  const policy = {
    description: '',
    repository_pattern: intent.repository,
    roots: [chain.rootPem],
    identities: ['O=Care'],
    provenance: { required: false, builders: [], source_repositories: [] },
  };
  await done('PUT', `${TRUST}/trust-policies/care`, { ...ADMIN, body: policy });
  const content = Buffer.from('weights of a model');
  const digest = `sha256:${hash('sha256', content)}`;
  const descriptor = { mediaType: 'application/octet-stream', digest, size: content.length };
  const signature = await signDescriptor(descriptor, keySigner(chain), { signedAt: new Date() });
  for (const [url, body] of [
    [intent.upload_path, content],
    [intent.signature_upload_path, signature],
  ] as const)
    expect((await fetch(url, { method: 'PUT', body: new Uint8Array(body) })).status).toBe(200);
  const body = { ...named, source_uri: intent.source_uri, digest };
  artifact = await done<Artifact>('POST', artifacts(), { ...ADMIN, body });
  artifact = await done<Artifact>('POST', `${artifacts()}/${artifact.id}/verify`, { ...ADMIN, body: {} });
});

test('an artifact whose signer is revoked loses its trust at the next run', async () => {
  expect(artifact.trust_state).toBe('verified');
  const { fingerprint } = artifact.verification.signer;
  await done('PUT', `${TRUST}/revoked-certificates/${fingerprint}`, { ...ADMIN, body: { reason: 'Lost' } });
  await invoke('retention-maintain-artifacts');
  expect(await read()).toMatchObject({
    trust_state: 'unverified',
    verification: { fault: { code: 'chain.revoked' } },
  });
});

test('an old draft is forgotten, and an intent nobody used ends', async () => {
  await age(artifactKey(artifact.id), 'created_at');
  await age(dueKey(artifact.id), 'gsi1sk');
  await age(intentKey(intent.id), 'gsi1sk', 'open_until');
  // Each run does what its index shows by then.
  await until(async () => {
    await invoke('retention-maintain-artifacts');
    return (await call('GET', `${artifacts()}/${artifact.id}`, ADMIN)).status === 404;
  });
  const audit = `/api/v1/projects/${place.project_id}/audit?action=artifacts.intent.expire`;
  const ended = await until(async () => {
    await invoke('publishing-expire-intents');
    const { items } = await done<{ items: unknown[] }>('GET', audit, ADMIN);
    return items.length > 0 && items;
  });
  expect(ended).toMatchObject([{ subject: `publish_intent:${intent.id}`, actor: 'platform:intent-expiry' }]);
});

test('a sweep can read every repository, and removes nothing that came today', async () => {
  await invoke('retention-sweep-repositories');
  const log = readFileSync(join(dataDir, 'logs', 'GpuaasArtifacts-retention-sweep-repositories.log'), 'utf8');
  expect(log).not.toContain('"level":"error"');
  const garbage = await done<{ items: { item_count: number }[] }>('GET', `${TRUST}/garbage`, ADMIN);
  expect(garbage.items.length).toBeGreaterThan(0);
  for (const { item_count } of garbage.items) expect(item_count).toBe(0);
});
