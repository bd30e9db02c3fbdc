import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { seedDemo } from '../../bin/local/seed-demo.ts';
import { obtainToken } from '../../bin/token/obtain-token.ts';
import { approveSubmission } from '../../functions/manifests/approve-submission.ts';
import { submitManifest } from '../../functions/manifests/submit-manifest.ts';
import { acceptInvitation } from '../../functions/identity/accept-invitation.ts';
import { done } from './people.ts';

const { api_url: apiUrl, oidc_issuer: issuer, demo, aws_credentials_file } = inject('platform');
const dataDir = dirname(aws_credentials_file);

const policy = () => done('GET', '/api/v1/admin/artifacts/trust-policies/example', { as: 'admin' });

/** How often each of these was done in the demo project, by whoever seeds it. */
async function seeded(): Promise<Record<string, number>> {
  const commands = { submitManifest, approveSubmission, acceptInvitation };
  const counts = Object.entries(commands).map(async ([name, { spec }]) => {
    const path = `/api/v1/projects/${demo.project_id}/audit?limit=100&action=${spec.action}`;
    return [name, (await done<{ items: unknown[] }>('GET', path, { as: 'admin' })).items.length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

test('a start that finds the demo there leaves it alone', async () => {
  const before = await seeded();
  expect(before['submitManifest']).toBeGreaterThanOrEqual(3);
  const tokenOf = async (email: string): Promise<string> =>
    (await obtainToken({ issuer, email })).access_token;
  expect(await seedDemo({ apiUrl, dataDir, tokenOf })).toEqual(demo);
  expect(await seeded()).toEqual(before);
  expect(await policy()).toMatchObject({ version: 1 });
});

test('the demo’s signer is one the platform trusts, and nobody else can read its key', async () => {
  const root = readFileSync(join(dataDir, 'demo-signing', 'root.pem'), 'utf8');
  expect(await policy()).toMatchObject({ repository_pattern: 'gpuaas/apps/example/*', roots: [root] });
  expect(readFileSync(demo.signing.chain, 'utf8').endsWith(root)).toBe(true);
  for (const file of Object.values(demo.signing)) expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('the seeded apps are drafts of the demo project, which is entitled to them', async () => {
  const path = `/api/v1/projects/${demo.project_id}/apps/catalog`;
  const { items } = await done<{ items: { slug: string }[] }>('GET', path, { as: 'viewer' });
  const slugs = ['jupyterlab', 'slurm-reference', 'vllm-openai'];
  expect(items.filter(({ slug }) => slugs.includes(slug))).toMatchObject(
    slugs.map((slug) => ({
      slug,
      active_version: null,
      versions: [{ status: 'draft' }],
      entitled: true,
      launchable: false,
      reasons: [{ code: 'version.none_active' }],
    })),
  );
});
