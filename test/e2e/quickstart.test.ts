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
  SA_NAME: 'app-operator',
  SA_SLUG: 'app-operator',
  DATA: dirname(ready.aws_credentials_file),
};

/** The commands of the quickstart, as they are written there, in one shell. */
async function shell(script: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-ceu', script], { cwd: ROOT, env });
  return stdout;
}

const STEPS = `
uuid() { cat /proc/sys/kernel/random/uuid; }
field() { node -e 'let s="";process.stdin.on("data",d=>s+=d).on("end",()=>console.log(JSON.parse(s)[process.argv[1]]))' "$1"; }

# Step 1
export HUMAN_TOKEN="$(node --disable-warning=ExperimentalWarning bin/token.ts owner@example.com --data "$DATA")"

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
