import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, inject, test } from 'vitest';
import { folderOf } from '../../bin/local/seed-catalog.ts';
import { seedDemo } from '../../bin/local/seed-demo.ts';
import { makeWebImage } from '../../bin/local/web-image.ts';
import { obtainToken } from '../../bin/token/obtain-token.ts';
import { approveSubmission } from '../../functions/manifests/approve-submission.ts';
import { submitManifest } from '../../functions/manifests/submit-manifest.ts';
import { promoteArtifact } from '../../functions/artifacts/promote-artifact.ts';
import { acceptInvitation } from '../../functions/identity/accept-invitation.ts';
import { findBusybox } from '../../lib/local/system/busybox.ts';
import { until } from '../until.ts';
import { done } from './people.ts';

const {
  api_url: apiUrl,
  oidc_issuer: issuer,
  demo,
  aws_credentials_file,
  docker_host: dockerHost,
} = inject('platform');
const dataDir = dirname(aws_credentials_file);

const ADMIN = { as: 'admin' } as const;
const policy = () => done('GET', '/api/v1/admin/artifacts/trust-policies/example', ADMIN);

/**
 * How often each of these was done for the demo's apps, by whoever seeds them. Not how often an artifact was registered:
 * the guides do so in the same project meanwhile.
 */
async function seeded(): Promise<Record<string, number>> {
  const commands = { submitManifest, approveSubmission, acceptInvitation, promoteArtifact };
  const counts = Object.entries(commands).map(async ([name, { spec }]) => {
    return [name, await countAudits(spec.action ?? '')] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** Over all pages: each is looked through for the action, and others write to the log of the project meanwhile. */
async function countAudits(action: string): Promise<number> {
  let count = 0;
  let cursor = '';
  for (;;) {
    const path = `/api/v1/projects/${demo.project_id}/audit?limit=100&action=${action}${cursor}`;
    const { items, next_cursor } = await done<Listed & { next_cursor: string | null }>('GET', path, ADMIN);
    count += items.length;
    if (next_cursor === null) return count;
    cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
  }
}

test('a start that finds the demo there leaves it alone', async () => {
  const before = await seeded();
  expect(before['submitManifest']).toBeGreaterThanOrEqual(4);
  const tokenOf = async (email: string): Promise<string> =>
    (await obtainToken({ issuer, email })).access_token;
  const said: string[] = [];
  const options = { apiUrl, dataDir, tokenOf, busybox: undefined, hasRegistry: true };
  // The host and what it gives the project are there by another way.
  const { node_id: _node, allocation_id: _allocation, sku: _sku, ...apps } = demo;
  expect(await seedDemo({ ...options, say: (_, message) => said.push(message) })).toEqual(apps);
  expect(await seeded()).toEqual(before);
  expect(said).toEqual([]);
  expect(await policy()).toMatchObject({ version: 1 });
});

test('the demo’s signer is one the platform trusts, and nobody else can read its key', async () => {
  const root = readFileSync(join(dataDir, 'demo-signing', 'root.pem'), 'utf8');
  expect(await policy()).toMatchObject({ repository_pattern: 'gpuaas/apps/example/*', roots: [root] });
  expect(readFileSync(demo.signing.chain, 'utf8').endsWith(root)).toBe(true);
  for (const file of Object.values(demo.signing)) expect(statSync(file).mode & 0o777).toBe(0o600);
});

interface ImageConfig {
  User: string;
  Entrypoint: string[];
}

interface Listed {
  items: Record<string, unknown>[];
}

test('one app is active from the first start, and its project may launch it; the others are drafts', async () => {
  expect(demo).toMatchObject({ app_slug: 'hello-web', app_version: '1.0.0', app_status: 'active' });
  const path = `/api/v1/projects/${demo.project_id}/apps/catalog`;
  const { items } = await done<Listed>('GET', path, { as: 'viewer' });
  const drafts = ['jupyterlab', 'slurm-reference', 'vllm-openai'];
  const seededSlugs = new Set(['hello-web', ...drafts]);
  const shown = items.filter(({ slug }) => seededSlugs.has(String(slug)));
  expect(shown).toMatchObject([
    { slug: 'hello-web', active_version: '1.0.0', entitled: true, launchable: true, reasons: [] },
    ...drafts.map((slug) => ({
      slug,
      active_version: null,
      versions: [{ status: 'draft' }],
      entitled: true,
      launchable: false,
      reasons: [{ code: 'version.none_active' }],
    })),
  ]);
});

test('the active app went the way of every app: signed, verified, and promoted without a person waiting', async () => {
  const { app_slug, app_version, project_id } = demo;
  const version = `/api/v1/apps/catalog/${app_slug}/versions/${app_version}`;
  const { artifacts } = await done<{ artifacts: { digest: string }[] }>('GET', version, { as: 'viewer' });
  const digests = new Set(artifacts.map(({ digest }) => digest));
  const path = `/api/v1/projects/${project_id}/app-artifacts?app_slug=${app_slug}&limit=100`;
  const { items } = await done<Listed>('GET', path, { as: 'viewer' });
  const bound = items.filter(({ digest }) => digests.has(String(digest)));
  const trusted = { lifecycle_state: 'active', trust_state: 'verified' };
  expect(bound).toHaveLength(2);
  expect(bound).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...trusted, artifact_name: 'runtime', artifact_kind: 'oci' }),
      expect.objectContaining({ ...trusted, artifact_name: 'weights', artifact_kind: 'blob' }),
    ]),
  );
  for (const artifact of bound) expect(artifact).not.toHaveProperty('variant');
  expect(await done('GET', `${version}/promotion`, ADMIN)).toMatchObject({
    status: 'succeeded',
    gates: { smoke: { by: 'platform:promotion-policy' } },
  });
});

test.skipIf(dockerHost === null)(
  'the image of the active app answers with nothing to write to, as nobody and without any capability',
  async () => {
    const { blobs } = await makeWebImage(findBusybox() ?? '', join(folderOf('hello-web'), 'site'));
    const [config = '', layer = ''] = blobs;
    const { User, Entrypoint } = (JSON.parse(config.toString()) as { config: ImageConfig }).config;
    const name = `hello-web-${randomUUID().slice(0, 8)}`;
    const docker = (words: string[], input: string | Buffer = ''): string =>
      execFileSync('docker', words, {
        input,
        encoding: 'utf8',
        env: { ...process.env, DOCKER_HOST: dockerHost ?? '' },
      });
    const changes = [`USER ${User}`, `ENTRYPOINT ${JSON.stringify(Entrypoint)}`].flatMap((each) => [
      '--change',
      each,
    ]);
    docker(['import', ...changes, '-', name], gunzipSync(layer));
    const bounds = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--network=none'];
    docker(['run', '-d', '--init', ...bounds, '--env', 'GREETING=Good morning', '--name', name, name]);
    try {
      const read = (path: string): string | false => {
        try {
          return docker([
            'exec',
            name,
            '/bin/busybox',
            'wget',
            '-q',
            '-O',
            '-',
            `http://127.0.0.1:8080${path}`,
          ]);
        } catch {
          return false;
        }
      };
      expect(await until(() => read('/health.txt'), 'the server')).toBe('ok\n');
      expect(read('/')).toContain('<h1>Good morning</h1>');
    } finally {
      docker(['rm', '-f', name]);
    }
  },
);
