import { hash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Demo, seedDemo } from '../../bin/local/seed-demo.ts';
import { obtainToken } from '../../bin/token/obtain-token.ts';
import { findFreePort } from '../../lib/local/engines/machine.ts';
import { API_AUDIENCE } from '../../lib/local/oidc/clients.ts';
import { subjectOf } from '../../lib/local/oidc/people.ts';
import { issuerAt } from '../../lib/local/oidc/provider.ts';
import { findBusybox } from '../../lib/local/system/busybox.ts';
import { synthesize } from '../../lib/local/template/synthesize.ts';
import { type PlatformCopy, startCopy } from '../e2e/platform-copy.ts';
import { until } from '../until.ts';

// One platform without a demo, on which the demo is made: without what it needs, in pieces, again, by another signer.

const root = mkdtempSync(join(tmpdir(), 'gpuaas-seed-'));
const folder = (name: string): string => join(root, name);
const send = globalThis.fetch;
let copy: PlatformCopy;
/** What the last start said. */
let said: string[] = [];

beforeAll(async () => {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  await synthesize(folder('assembly'), {
    oidc_issuer: issuerAt(url),
    oidc_audience: API_AUDIENCE,
    platform_admins: subjectOf('admin@example.com'),
    authorization_cache_seconds: '1',
  });
  // A platform that is given its assembly makes no demo.
  copy = await startCopy({ dataDir: folder('data'), assembly: folder('assembly'), port });
}, 300_000);

afterEach(() => vi.unstubAllGlobals());

afterAll(async () => {
  await copy.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Makes the demo as a start does; the folder is that of its signer. */
function seed({
  dataDir = folder('signer'),
  busybox = findBusybox(),
}: {
  dataDir?: string;
  busybox?: string | null;
}) {
  said = [];
  const { api_url: apiUrl, oidc_issuer: issuer } = copy.ready;
  const tokenOf = async (email: string) => (await obtainToken({ issuer, email })).access_token;
  return seedDemo({
    apiUrl,
    dataDir,
    tokenOf,
    busybox: busybox ?? undefined,
    hasRegistry: true,
    say: (_, message) => said.push(message),
  });
}

const underway: Promise<unknown>[] = [];

/** Every request after so many fails, as when the platform is stopped at that moment. */
function interruptAfter(requests: number): void {
  let left = requests;
  vi.stubGlobal('fetch', (...args: Parameters<typeof fetch>) => {
    left -= 1;
    if (left < 0) return Promise.reject(new Error('interrupted'));
    const answer = send(...args);
    underway.push(answer);
    return answer;
  });
}

async function read<T>(path: string): Promise<T> {
  const { api_url, oidc_issuer: issuer } = copy.ready;
  const { access_token } = await obtainToken({ issuer, email: 'admin@example.com' });
  const answer = await send(api_url + path, { headers: { authorization: `Bearer ${access_token}` } });
  return (await answer.json()) as T;
}

interface Listed {
  items: {
    artifact_name: string;
    lifecycle_state: string;
    verification: { signer?: { fingerprint: string } };
  }[];
}

const artifactsOf = async ({ project_id, app_slug }: Demo): Promise<Listed['items']> =>
  (await read<Listed>(`/api/v1/projects/${project_id}/app-artifacts?app_slug=${app_slug}`)).items;

const signerIn = (dataDir: string): string =>
  hash('sha256', new X509Certificate(readFileSync(join(dataDir, 'demo-signing', 'chain.pem'))).raw);

test('without a busybox the app is described as a draft', async () => {
  const demo = await seed({ busybox: null });
  expect(demo).toMatchObject({ app_slug: 'hello-web', app_version: '1.0.0', app_status: 'draft' });
  expect(said).toEqual([
    'hello-web 1.0.0 stays a draft without a statically linked busybox. Install it, and start again.',
  ]);
  expect(await artifactsOf(demo)).toEqual([]);
});

test('interrupted again and again, it goes on where it was, and does nothing twice', async () => {
  let demo: Demo | undefined;
  let starts = 0;
  for (let requests = 15; demo?.app_status !== 'active' && starts < 40; requests += 8) {
    interruptAfter(requests);
    demo = await seed({}).catch(() => undefined);
    // What was sent beside the request that failed ends before the next start, as it would with its process.
    await Promise.allSettled(underway.splice(0));
    starts += 1;
  }
  vi.unstubAllGlobals();
  expect(starts).toBeGreaterThan(2);
  if (demo?.app_status !== 'active') throw new Error(`The app is not active: ${said.join(' ')}`);
  const artifacts = await artifactsOf(demo);
  const active = { lifecycle_state: 'active', trust_state: 'verified' };
  expect(
    artifacts.toSorted((one, other) => one.artifact_name.localeCompare(other.artifact_name)),
  ).toMatchObject([
    { artifact_name: 'runtime', ...active },
    { artifact_name: 'weights', ...active },
  ]);
  const submissions = `/api/v1/projects/${demo.project_id}/apps/submissions?limit=100`;
  const { items } = await read<{ items: { app_slug: string }[] }>(submissions);
  expect(await read('/api/v1/admin/apps/promotion-policy')).toMatchObject({
    version: 1,
    smoke: { gate: 'automatic' },
  });
  // Once as a draft without digests, once with them.
  expect(items.filter(({ app_slug }) => app_slug === 'hello-web')).toHaveLength(2);
});

test('a signer who lost the key is replaced, and the app stays trusted', async () => {
  const dataDir = folder('another-signer');
  const demo = await seed({ dataDir, busybox: null });
  expect(demo).toMatchObject({ app_status: 'active' });
  expect(said).toEqual([]);
  // A list may show a change a moment late.
  await until(async () => {
    const artifacts = await artifactsOf(demo);
    return artifacts.every(({ verification }) => verification.signer?.fingerprint === signerIn(dataDir));
  }, 'the new signer');
  expect(signerIn(dataDir)).not.toBe(signerIn(folder('signer')));
});
