import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const ready = inject('platform');
const env = {
  ...process.env,
  API_BASE_URL: ready.api_url,
  PROJECT_ID: ready.demo.project_id,
  APP_SLUG: ready.demo.app_slug,
  SA_NAME: 'app-operator',
  SA_SLUG: 'app-operator',
  DATA: dirname(ready.aws_credentials_file),
};

/** The commands of the quickstart, as they are written there, in one shell. */
async function shell(script: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-ceu', script], { cwd: ROOT, env });
  return stdout;
}

const BEGINNING = `
uuid() { cat /proc/sys/kernel/random/uuid; }
field() { node -e 'let s="";process.stdin.on("data",d=>s+=d).on("end",()=>console.log(JSON.parse(s)[process.argv[1]]))' "$1"; }

# Step 1
export HUMAN_TOKEN="$(node --disable-warning=ExperimentalWarning bin/token.ts owner@example.com --data "$DATA")"
`;

const STEPS = `${BEGINNING}

# Step 2
CREATED="$(curl -s -X POST "$API_BASE_URL/api/v1/projects/$PROJECT_ID/service-accounts" \\
-H "Authorization: Bearer $HUMAN_TOKEN" \\
-H "Content-Type: application/json" \\
-H "X-Request-ID: $(uuid)" \\
-H "X-Idempotency-Key: $(uuid)" \\
-d '{
"name": "'"$SA_NAME"'",
"slug": "'"$SA_SLUG"'",
"description": "Operator for app lifecycle automation"
}')"
export SERVICE_ACCOUNT_ID="$(field id <<<"$CREATED")"
export SERVICE_ACCOUNT_KEY_ID="$(field key_id <<<"$CREATED")"
export SERVICE_ACCOUNT_PRIVATE_KEY_PEM="$(field private_key_pem <<<"$CREATED")"

# Step 3
curl -s -X POST "$API_BASE_URL/api/v1/auth/service-account/token" \\
-H "Content-Type: application/json" \\
-H "X-Request-ID: $(uuid)" \\
-d '{
"service_account_id": "'"$SERVICE_ACCOUNT_ID"'",
"key_id": "'"$SERVICE_ACCOUNT_KEY_ID"'",
"private_key_pem": "'"$SERVICE_ACCOUNT_PRIVATE_KEY_PEM"'"
}'
`;

test('steps 1 to 3 of the quickstart work with the curl calls as written', async () => {
  const answer = JSON.parse(await shell(STEPS)) as {
    access_token: string;
    token_type: string;
    expires_in: number;
  };
  expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 900 });
  const me = await fetch(`${ready.api_url}/api/v1/me`, {
    headers: { authorization: `Bearer ${answer.access_token}` },
  });
  expect(me.status).toBe(200);
  const project = await fetch(`${ready.api_url}/api/v1/projects/${ready.demo.project_id}`, {
    headers: { authorization: `Bearer ${answer.access_token}` },
  });
  expect(project.status).toBe(200);
  const audit = await fetch(`${ready.api_url}/api/v1/projects/${ready.demo.project_id}/audit`, {
    headers: {
      authorization: `Bearer ${(await shell('node --disable-warning=ExperimentalWarning bin/token.ts owner@example.com --data "$DATA"')).trim()}`,
    },
  });
  const { items } = (await audit.json()) as { items: { action: string }[] };
  expect(items.map(({ action }) => action)).toContain('identity.service_account.create');
}, 90_000);

// What each answers is one line, in their order.
const CATALOGUE_STEPS = `${BEGINNING}
# Step 4
curl -s "$API_BASE_URL/api/v1/apps/catalog" \\
-H "Authorization: Bearer $HUMAN_TOKEN" \\
-H "X-Request-ID: $(uuid)"
echo
curl -s "$API_BASE_URL/api/v1/apps/catalog/$APP_SLUG/versions" \\
-H "Authorization: Bearer $HUMAN_TOKEN" \\
-H "X-Request-ID: $(uuid)"
echo

# Step 4a
curl -s "$API_BASE_URL/api/v1/apps/registry" \\
-H "Authorization: Bearer $HUMAN_TOKEN" \\
-H "X-Request-ID: $(uuid)"
echo

# Step 5
curl -s -X PUT "$API_BASE_URL/api/v1/projects/$PROJECT_ID/apps/entitlements/$APP_SLUG" \\
-H "Authorization: Bearer $HUMAN_TOKEN" \\
-H "Content-Type: application/json" \\
-H "X-Request-ID: $(uuid)" \\
-d '{
"enabled": true,
"policy_overrides": {
"allowed_operating_modes": ["tenant_dedicated"],
"allowed_control_plane_scopes": ["project"]
}
}'
echo

# After entitlement is enabled, the app should appear in the catalog for that active project.
curl -s "$API_BASE_URL/api/v1/projects/$PROJECT_ID/apps/catalog" \\
-H "Authorization: Bearer $HUMAN_TOKEN"
`;

interface Listed {
  items: { slug: string; version: string; status: string; entitled: boolean; runtime_backend: string }[];
}

test('steps 4, 4a and 5 of the quickstart work with the curl calls as written', async () => {
  const lines = (await shell(CATALOGUE_STEPS)).trim().split('\n');
  const [apps, versions, registry, entitlement, launchable] = lines.map(
    (line) => JSON.parse(line) as unknown,
  );

  const seeded = ['jupyterlab', 'slurm-reference', 'vllm-openai'];
  expect((apps as Listed).items.map(({ slug }) => slug)).toEqual(expect.arrayContaining(seeded));
  expect((versions as Listed).items).toMatchObject([{ app_slug: ready.demo.app_slug, status: 'draft' }]);
  expect(registry).toMatchObject({
    registry_host: ready.registry,
    namespace_ownership: 'project',
    digest_only: true,
    private_repositories: true,
  });
  const asked = { allowed_operating_modes: ['tenant_dedicated'], allowed_control_plane_scopes: ['project'] };
  expect(entitlement).toMatchObject({
    app_slug: ready.demo.app_slug,
    enabled: true,
    policy_overrides: asked,
    effective: { enabled: true, ...asked },
    source: 'project',
  });
  const shown = (launchable as Listed).items.find(({ slug }) => slug === ready.demo.app_slug);
  // It has no image yet; the entitlement does not stand in the way.
  expect(shown).toMatchObject({
    entitled: true,
    launchable: false,
    reasons: [{ code: 'version.none_active' }],
  });
}, 90_000);

test('the schema of manifests is served to whoever asks', async () => {
  const answer = await fetch(`${ready.api_url}/api/v1/schemas/app-manifest/v1`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/schema+json');
  expect(await answer.json()).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
});
