import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compactVerify } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { createChannel } from '../../../agent/platform/channel.ts';
import { createNodeTokens } from '../../../agent/platform/node-token.ts';
import { createPlatformClient } from '../../../agent/platform/platform-client.ts';
import type { PlatformChannel } from '../../../agent/tasks/performer.ts';
import { problem, type SmallPlatform, startSmallPlatform } from '../small-platform.ts';

let platform: SmallPlatform;
let journal: Journal;
let channel: PlatformChannel;
let time: Date;
const now = () => time;
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const image = { repository: 'apps/one', digest: `sha256:${'a'.repeat(64)}` };
const later = { repository: 'apps/two', digest: `sha256:${'b'.repeat(64)}` };

beforeAll(async () => {
  platform = await startSmallPlatform();
  platform.state.nodeKey = publicKey;
});
afterAll(() => platform.stop());

beforeEach(() => {
  time = new Date();
  platform.asked.length = 0;
  journal = openJournal(mkdtempSync(join(tmpdir(), 'agent-')), now);
  const { url, nodeId, hostKey } = platform;
  const ask = createPlatformClient(
    url,
    createNodeTokens(url, nodeId, privateKey, () => new Date()),
  );
  const config = { node_id: nodeId, host_key: hostKey };
  channel = createChannel({ config, key: privateKey, ask, reports: journal.reports, now });
});
afterEach(() => journal.close());

interface Told {
  revision: number;
  nodeId?: string;
  seconds?: number;
  images?: (typeof image)[];
}

const documentOf = ({ revision, nodeId = platform.nodeId, seconds = 3600, images = [image] }: Told) => {
  const iat = Math.floor(time.getTime() / 1000);
  const assigned = images.map((each) => ({ ...each, status: 'approved' }));
  const rest = { policies: [], revoked_certificates: [], assigned, allow_root_without_remap: false };
  return { node_id: nodeId, revision, iat, exp: iat + seconds, ...rest };
};

function tell(told: Told, key?: typeof privateKey): void {
  platform.on(`GET ${platform.at('/trust')}`, async () => ({
    body: { document: await platform.signed(documentOf(told), undefined, key) },
  }));
}

const fetches = () => platform.askedFor(platform.at('/trust')).length;

describe('the trust policy', () => {
  test('is fetched once and kept by its revision', async () => {
    tell({ revision: 3 });
    expect((await channel.trust(0)).revision).toBe(3);
    expect((await channel.trust(3)).revision).toBe(3);
    expect(fetches()).toBe(1);
  });

  test('is fetched again for a later revision, and for an image that was assigned since', async () => {
    tell({ revision: 3 });
    await channel.trust(3, [image]);
    tell({ revision: 4 });
    expect((await channel.trust(4)).revision).toBe(4);
    tell({ revision: 4, images: [image, later] });
    expect((await channel.trust(4, [later])).assigned).toHaveLength(2);
    await channel.trust(4, [image, later]);
    expect(fetches()).toBe(3);
  });

  test('is fetched again when it has expired', async () => {
    tell({ revision: 3, seconds: 60 });
    await channel.trust(3);
    time = new Date(time.getTime() + 61_000);
    await channel.trust(3);
    expect(fetches()).toBe(2);
  });

  test('is fetched once by many who ask at the same time', async () => {
    tell({ revision: 3 });
    await Promise.all(Array.from({ length: 10 }, () => channel.trust(3)));
    expect(fetches()).toBe(1);
  });

  const refused: [string, () => void][] = [
    [
      'signed by another key',
      () => tell({ revision: 9 }, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
    ],
    ['made for another node', () => tell({ revision: 9, nodeId: '0190a000-0000-7000-8000-00000000000f' })],
    ['that has expired', () => tell({ revision: 9, seconds: -1 })],
    ['of an older revision than is asked for', () => tell({ revision: 8 })],
    [
      'that is no policy',
      () =>
        platform.on(`GET ${platform.at('/trust')}`, async () => ({
          body: { document: await platform.signed({ version: '1.0.0' }) },
        })),
    ],
    [
      'that is not told',
      () => platform.on(`GET ${platform.at('/trust')}`, () => problem(403, 'permission.denied')),
    ],
  ];
  test.each(refused)('%s is not believed', async (_, say) => {
    say();
    await expect(channel.trust(9)).rejects.toMatchObject({ code: 'trust_unavailable' });
  });

  test('older than the one that is held is a replay, and refused', async () => {
    tell({ revision: 5, seconds: 60 });
    await channel.trust(5);
    time = new Date(time.getTime() + 61_000);
    tell({ revision: 4 });
    await expect(channel.trust(0)).rejects.toMatchObject({ code: 'trust_unavailable' });
  });
});

describe('credentials for pulling', () => {
  const answer = (seconds: number) =>
    platform.on(`POST ${platform.at('/pull-credentials')}`, () => ({
      body: {
        registry_host: 'registry.test',
        username: 'AWS',
        password: 'p',
        expires_at: new Date(time.getTime() + seconds * 1000).toISOString(),
      },
    }));

  test('are kept for the same repositories until shortly before they expire', async () => {
    answer(3600);
    await channel.pullCredentials(['b', 'a']);
    expect(await channel.pullCredentials(['a', 'b', 'a'])).toMatchObject({ registry_host: 'registry.test' });
    await channel.pullCredentials(['a']);
    expect(platform.askedFor(platform.at('/pull-credentials')).map(({ body }) => body)).toEqual([
      { repositories: ['a', 'b'] },
      { repositories: ['a'] },
    ]);
    time = new Date(time.getTime() + 56 * 60_000);
    await channel.pullCredentials(['a']);
    expect(platform.askedFor(platform.at('/pull-credentials'))).toHaveLength(3);
  });
});

test('a secret is fetched by its handle, and one that is not given fails the task', async () => {
  platform.on(`POST ${platform.at('/secrets')}`, ({ body }) =>
    (body as { handle: string }).handle === 'good'
      ? { body: { value: Buffer.from('s3cret').toString('base64') } }
      : problem(404, 'secret.unknown'),
  );
  expect(Buffer.from(await channel.secret('good', 'fetch')).toString()).toBe('s3cret');
  await expect(channel.secret('bad', 'fetch')).rejects.toMatchObject({ code: 'secret_unavailable' });
});

test('a signature is by the node, under its id', async () => {
  const { payload, protectedHeader } = await compactVerify(await channel.sign({ removed: 1 }), publicKey);
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({ removed: 1 });
  expect(protectedHeader).toEqual({ alg: 'ES256', kid: platform.nodeId });
});

test('of what is told of a workload, the last is kept', () => {
  const status = { fence: 1, at: time.toISOString(), containers: [] };
  channel.tellWorkload('w', { ...status, state: 'degraded' });
  channel.tellWorkload('w', { ...status, state: 'ready' });
  const kept = journal.reports.list(10);
  expect(kept).toHaveLength(1);
  expect(JSON.parse(kept[0]?.body ?? '')).toMatchObject({ state: 'ready' });
});
