import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { until } from '../until.ts';
import { call, tokenOf } from './people.ts';
import { findShownSecrets, plant } from './planted-secrets.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const ready = inject('platform');
const folder = mkdtempSync(join(tmpdir(), 'quickstart-'));
const env = {
  ...process.env,
  API_BASE_URL: ready.api_url,
  PROJECT_ID: ready.demo.project_id,
  APP_SLUG: ready.demo.app_slug,
  SIGNING_KEY: ready.demo.signing.key,
  SIGNING_CHAIN: ready.demo.signing.chain,
  IMAGE: join(folder, 'image'),
  FILES: folder,
};

/** Of the service account, as steps 1 to 3 have it. */
let saToken: string;

beforeAll(async () => {
  writeImage(env.IMAGE);
  writeFileSync(join(folder, 'weights'), 'a few weights');
  const account = await call<{ id: string; key_id: string; private_key_pem: string }>(
    'POST',
    `/api/v1/projects/${ready.demo.project_id}/service-accounts`,
    { as: 'owner', body: { name: 'Publisher', slug: `publisher-${process.pid}` } },
  );
  const { id: service_account_id, key_id, private_key_pem } = account.body;
  const minted = await call<{ access_token: string }>('POST', '/api/v1/auth/service-account/token', {
    body: { service_account_id, key_id, private_key_pem },
  });
  saToken = minted.body.access_token;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The commands of the quickstart, as they are written there, in one shell; the last line is what it comes to. */
async function shell<T>(script: string): Promise<T> {
  const { stdout } = await promisify(execFile)('bash', ['-ceuo', 'pipefail', script], {
    cwd: ROOT,
    env: { ...env, SA_TOKEN: saToken },
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;
}

interface Registered {
  id: string;
  app_slug: string;
  app_version: string;
  digest: string;
  source_uri: string;
}

const BEGINNING = `
uuid() { cat /proc/sys/kernel/random/uuid; }
field() { node -e 'let s="";process.stdin.on("data",d=>s+=d).on("end",()=>console.log(JSON.parse(s)[process.argv[1]]))' "$1"; }
export APP_VERSION="$(curl -s "$API_BASE_URL/api/v1/apps/catalog/$APP_SLUG/versions" \\
-H "Authorization: Bearer $SA_TOKEN" | node -e 'let s="";process.stdin.on("data",d=>s+=d).on("end",()=>console.log(JSON.parse(s).items[0].version))')"
`;

const IMAGE_STEPS = `${BEGINNING}
# Step 6a
INTENT="$(curl -s -X POST "$API_BASE_URL/api/v1/projects/$PROJECT_ID/app-artifacts/publish-intents" \\
-H "Authorization: Bearer $SA_TOKEN" \\
-H "Content-Type: application/json" \\
-H "X-Request-ID: $(uuid)" \\
-H "X-Idempotency-Key: $(uuid)" \\
-d '{
"app_slug": "'"$APP_SLUG"'",
"app_version": "'"$APP_VERSION"'",
"artifact_name": "runtime",
"channel": "dev"
}')"
echo "$INTENT" >"$FILES/image-intent.json"

# Then push directly to the returned repository using the wrapped credential material from that intent.
CREDENTIAL="$(curl -s -X POST "$API_BASE_URL$(field unwrap_path <<<"$INTENT")" \\
-H "Authorization: Bearer $SA_TOKEN" \\
-H "Content-Type: application/json" \\
-d '{"wrapping_token": "'"$(field wrapping_token <<<"$INTENT")"'"}')"
echo "$CREDENTIAL" >"$FILES/credential.json"
REGISTRY_USER="$(field username <<<"$CREDENTIAL")"
REGISTRY_PASSWORD="$(field password <<<"$CREDENTIAL")"
skopeo copy --quiet --preserve-digests --dest-tls-verify=false --dest-creds "$REGISTRY_USER:$REGISTRY_PASSWORD" \\
  --digestfile "$FILES/digest" "dir:$IMAGE" "docker://$(field image <<<"$INTENT")"
DIGEST="$(cat "$FILES/digest")"

# When signature_required=true, attach the required signature before registration.
npx gpuaas artifact sign "$(field registry_host <<<"$INTENT")/$(field repository <<<"$INTENT")@$DIGEST" \\
  --key "$SIGNING_KEY" --chain "$SIGNING_CHAIN" \\
  --registry-user "$REGISTRY_USER" --registry-password-stdin <<<"$REGISTRY_PASSWORD" >&2

# After push, register the immutable digest with the control plane:
curl -s -X POST "$API_BASE_URL/api/v1/projects/$PROJECT_ID/app-artifacts" \\
-H "Authorization: Bearer $SA_TOKEN" \\
-H "Content-Type: application/json" \\
-H "X-Request-ID: $(uuid)" \\
-H "X-Idempotency-Key: $(uuid)" \\
-d '{
"app_slug": "'"$APP_SLUG"'",
"app_version": "'"$APP_VERSION"'",
"artifact_name": "runtime",
"repository": "gpuaas/apps/example/'"$APP_SLUG"'",
"digest": "'"$DIGEST"'",
"tag": "dev-latest",
"media_type": "application/vnd.oci.image.manifest.v1+json"
}'
`;

test('step 6a: an image is pushed, signed and registered with the calls as written, verified and promoted', async () => {
  const registered = await shell<Registered>(IMAGE_STEPS);
  expect(registered).toMatchObject({
    artifact_kind: 'oci',
    artifact_name: 'runtime',
    tag: 'dev-latest',
    lifecycle_state: 'draft',
    trust_state: 'unverified',
    platforms: [{ platform: 'linux/amd64', user: '1000' }],
  });
  const intent = readAnswer('image-intent.json');
  plant('a wrapping token', intent['wrapping_token'] ?? '');
  plant('the password of a registry', readAnswer('credential.json')['password'] ?? '');
  expect(intent).toMatchObject({
    repository: `gpuaas/apps/example/${ready.demo.app_slug}`,
    registry_host: ready.registry,
    signature_required: true,
    signature_scheme: 'notation-jws',
    signing_key_id: expect.any(String) as string,
    provenance_required: false,
  });
  await verifyAndStage(registered.id);
}, 120_000);

const FILE_STEPS = `${BEGINNING}
# Step 6b
INTENT="$(curl -s -X POST "$API_BASE_URL/api/v1/projects/$PROJECT_ID/app-artifacts/publish-intents" \\
-H "Authorization: Bearer $SA_TOKEN" \\
-H "Content-Type: application/json" \\
-H "X-Request-ID: $(uuid)" \\
-H "X-Idempotency-Key: $(uuid)" \\
-d '{
"app_slug": "'"$APP_SLUG"'",
"app_version": "'"$APP_VERSION"'",
"artifact_name": "weights",
"artifact_kind": "blob",
"source_type": "artifact_store",
"channel": "dev"
}')"
echo "$INTENT" >"$FILES/file-intent.json"

# Use the returned upload_path to upload the file into project storage, then register it:
curl -sf -T "$FILES/weights" "$(field upload_path <<<"$INTENT")"
npx gpuaas artifact sign "$FILES/weights" --key "$SIGNING_KEY" --chain "$SIGNING_CHAIN" >&2
curl -sf -T "$FILES/weights.jws.sig" "$(field signature_upload_path <<<"$INTENT")"
curl -s -X POST "$API_BASE_URL/api/v1/projects/$PROJECT_ID/app-artifacts" \\
-H "Authorization: Bearer $SA_TOKEN" \\
-H "Content-Type: application/json" \\
-H "X-Request-ID: $(uuid)" \\
-H "X-Idempotency-Key: $(uuid)" \\
-d '{
"app_slug": "'"$APP_SLUG"'",
"app_version": "'"$APP_VERSION"'",
"artifact_name": "weights",
"artifact_kind": "blob",
"source_type": "artifact_store",
"source_uri": "artifact_store://projects/'"$PROJECT_ID"'/artifacts/'"$APP_SLUG"'/'"$APP_VERSION"'/weights",
"digest": "sha256:'"$(sha256sum "$FILES/weights" | cut -d' ' -f1)"'"
}'
`;

test('step 6b: a file is uploaded, signed and registered with the calls as written, verified and promoted', async () => {
  const registered = await shell<Registered>(FILE_STEPS);
  expect(registered).toMatchObject({
    artifact_kind: 'blob',
    size_bytes: 'a few weights'.length,
    object: { version_id: expect.any(String) as string },
    lifecycle_state: 'draft',
  });
  const intent = readAnswer('file-intent.json');
  for (const name of ['upload_path', 'signature_upload_path', 'provenance_upload_path'])
    plant(name, new URL(intent[name] ?? '').searchParams.get('X-Amz-Signature') ?? '');
  expect(intent['source_uri']).toBe(registered.source_uri);
  await verifyAndStage(registered.id);

  // What is written there later is another version of the object, and nobody's artifact.
  await fetch(intent['upload_path'] ?? '', { method: 'PUT', body: 'other weights' });
  const path = `/api/v1/projects/${ready.demo.project_id}/app-artifacts/${registered.id}`;
  expect((await call('POST', `${path}/verify`, { token: saToken })).body).toMatchObject({
    digest: registered.digest,
    trust_state: 'verified',
  });
  const { app_slug, app_version } = registered;
  const other = { app_slug, app_version, artifact_name: 'weights', artifact_kind: 'blob' };
  const late = await call('POST', `/api/v1/projects/${ready.demo.project_id}/app-artifacts`, {
    token: saToken,
    body: { ...other, digest: `sha256:${hash('sha256', 'never uploaded')}` },
  });
  expect(late).toMatchObject({ status: 422, body: { code: 'artifact.mismatched' } });
}, 120_000);

test('what was handed out to publish with can be read nowhere', async () => {
  expect(await findShownSecrets()).toEqual([]);
});

const readAnswer = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, string>;

/** The publisher has it verified; taking it further is the platform's decision. */
async function verifyAndStage(id: string): Promise<void> {
  const path = `/api/v1/projects/${ready.demo.project_id}/app-artifacts/${id}`;
  const verified = await call('POST', `${path}/verify`, { token: saToken });
  expect(verified).toMatchObject({ status: 200, body: { trust_state: 'verified' } });
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

/** An image with nothing in it, as skopeo keeps one in a folder. */
function writeImage(image: string): void {
  const tar = Buffer.alloc(1024);
  const layer = gzipSync(tar);
  const config = Buffer.from(
    JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      config: { User: '1000', Env: ['PATH=/bin'], ExposedPorts: { '8888/tcp': {} } },
      rootfs: { type: 'layers', diff_ids: [`sha256:${hash('sha256', tar)}`] },
    }),
  );
  const describe = (mediaType: string, content: Buffer) => ({
    mediaType,
    digest: `sha256:${hash('sha256', content)}`,
    size: content.length,
  });
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: describe('application/vnd.oci.image.config.v1+json', config),
    layers: [describe('application/vnd.oci.image.layer.v1.tar+gzip', layer)],
  };
  mkdirSync(image);
  writeFileSync(join(image, 'version'), 'Directory Transport Version: 1.1\n');
  writeFileSync(join(image, 'manifest.json'), JSON.stringify(manifest));
  for (const content of [config, layer]) writeFileSync(join(image, hash('sha256', content)), content);
}
