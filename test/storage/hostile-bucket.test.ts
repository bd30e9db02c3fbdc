// A bucket that answers slowly, wrongly or not at all: a refusal that may be tried again, in bounded time and memory.

import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { until } from '../until.ts';
import { Bucket, type BucketWorld, type FileCode, openBucket, READER } from './bucket-world.ts';

const MEGABYTE = Buffer.alloc(1024 * 1024, 'w');
const PROJECT = 'p';
const key = `projects/${PROJECT}/artifacts/app/1.0.0/weights`;
const asked = {
  project_id: PROJECT,
  app_slug: 'app',
  app_version: '1.0.0',
  artifact_name: 'weights',
  digest: `sha256:${hash('sha256', 'weights')}`,
};
/** Waiting is done in a fraction of the time. */
const HASTE = 25;
let haste = 1;

let world: BucketWorld;
let code: FileCode;
let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asks: string[];
let waitsMs: number[];

beforeAll(async () => {
  world = await openBucket();
  code = await world.as(READER);
  server = createServer((request, response) => {
    asks.push(`${request.method} ${request.url}`);
    response.on('error', () => {});
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('AWS_ENDPOINT_URL_S3', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await world?.close();
});

beforeEach(() => {
  asks = [];
  waitsMs = [];
  haste = 1;
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    waitsMs.push(ms);
    return timeout(ms / haste);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
});

const about = (more: Record<string, string | number> = {}) => ({
  'x-amz-version-id': 'v1',
  'last-modified': new Date().toUTCString(),
  'content-length': 7,
  ...more,
});
const checksum = (text: string) => ({ 'x-amz-checksum-sha256': hash('sha256', text, 'base64') });
/** Answers a HEAD well, and a GET like this. */
const onGet =
  (get: (response: ServerResponse) => void) =>
  ({ method }: IncomingMessage, response: ServerResponse): void => {
    if (method === 'HEAD') response.writeHead(200, about()).end();
    else get(response);
  };

type Behaviour = [string, (request: IncomingMessage, response: ServerResponse) => void];

const everywhere: Behaviour[] = [
  ['says nothing', () => {}],
  ['hangs up', (_, response) => response.destroy()],
  ['speaks no HTTP', (_, response) => response.socket?.end('220 ftp ready\r\n')],
  ['fails', (_, response) => response.writeHead(500).end('<Error/>')],
  ['is too busy', (_, response) => response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')],
  ['forbids', (_, response) => response.writeHead(403).end('<Error/>')],
  [
    'sends elsewhere, for ever',
    ({ url }, response) => response.writeHead(307, { location: url ?? '/' }).end(),
  ],
  [
    'sends to another host',
    (_, response) => response.writeHead(301, { location: 'http://127.0.0.1:1/' }).end(),
  ],
  [
    'has headers without end',
    (_, response) => response.writeHead(200, { 'x-amz-meta-a': 'a'.repeat(40_000) }).end(),
  ],
  ['answers with nothing', (_, response) => response.writeHead(204).end()],
];

const onHead: Behaviour[] = [
  ['keeps no versions', (_, response) => response.writeHead(200, { 'content-length': 7 }).end()],
  ['does not tell the length', (_, response) => response.writeHead(200, { 'x-amz-version-id': 'v1' }).end()],
  [
    'does not tell the time',
    (_, response) => response.writeHead(200, { ...about(), 'last-modified': 'soon' }).end(),
  ],
  [
    'has a checksum that is none',
    (_, response) => response.writeHead(200, about({ 'x-amz-checksum-sha256': 'abc' })).end(),
  ],
];

const whileDigesting: Behaviour[] = [
  [
    'sends less than it said',
    onGet((response) => response.writeHead(200, about()).write('wei', () => response.destroy())),
  ],
  [
    'says it is shorter than it was',
    onGet((response) => response.writeHead(200, about({ 'content-length': 3 })).end('wei')),
  ],
  [
    'drips',
    onGet((response) => {
      response.writeHead(200, about());
      response.write('w');
    }),
  ],
  [
    'is about another version',
    onGet((response) => response.writeHead(200, about({ 'x-amz-version-id': 'v2' })).end('weights')),
  ],
  ['sends part of it', onGet((response) => response.writeHead(206, about()).end('weights'))],
  [
    'tells no length',
    onGet((response) => response.writeHead(200, { 'x-amz-version-id': 'v1' }).end('weights')),
  ],
];

describe('nothing is registered when the bucket', () => {
  test.each([...everywhere, ...onHead, ...whileDigesting])('%s', async (_name, behave) => {
    answer = behave;
    haste = HASTE;
    await expect(code.findFile(asked, new Date())).rejects.toMatchObject({
      code: 'store.unavailable',
      headers: { 'retry-after': '5' },
    });
    expect(asks.length).toBeLessThanOrEqual(2);
    // The whole of it ends before the gateway gives up.
    expect(waitsMs.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(25_000);
  });

  test('has something else than its checksum said it would', async () => {
    answer = (_, response) => response.writeHead(200, about(checksum('other'))).end();
    await expect(code.findFile(asked, new Date())).rejects.toMatchObject({ code: 'artifact.mismatched' });
  });
});

describe('nothing is verified when the bucket', () => {
  const listingOf = (url: string) =>
    `<ListVersionsResult><IsTruncated>false</IsTruncated><Version>
    <Key>${new URL(url, 'http://x').searchParams.get('prefix')}</Key>
    <VersionId>v1</VersionId><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>7</Size></Version>
    </ListVersionsResult>`;
  const evidence = () => code.findFileEvidence({ id: 'a', object: { key, version_id: 'v1' } });

  test.each(everywhere)('%s', async (_name, behave) => {
    answer = behave;
    haste = HASTE;
    await expect(evidence()).rejects.toMatchObject({ code: 'store.unavailable' });
  });

  test.each<Behaviour>([
    [
      'sends bytes that are not those of their checksum',
      onGet((response) => response.writeHead(200, about(checksum('other'))).end('weights')),
    ],
    [
      'sends less than it said',
      onGet((response) => response.writeHead(200, about()).write('wei', () => response.destroy())),
    ],
    [
      'drips',
      onGet((response) => {
        response.writeHead(200, about());
        response.write('w');
      }),
    ],
  ])('%s', async (_name, behave) => {
    // The list of signatures is right, and has the time it needs; it is the signature that is not.
    haste = 5;
    answer = (request, response) =>
      request.url?.includes('versions=')
        ? response.writeHead(200).end(listingOf(request.url))
        : behave(request, response);
    await expect(evidence()).rejects.toMatchObject({ code: 'store.unavailable' });
    expect(asks.some((ask) => ask.startsWith('GET') && ask.includes('versionId=v1'))).toBe(true);
  });
});

describe('memory', () => {
  /** How much more there was at most while something was done. */
  async function growthOf(work: () => Promise<unknown>): Promise<number> {
    const before = process.memoryUsage.rss();
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
    await work().finally(() => clearInterval(timer));
    return most - before;
  }

  const pour = (response: ServerResponse, megabytes: number): void => {
    let left = megabytes;
    const more = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(MEGABYTE)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  };

  test('does not grow with the file that is digested', async () => {
    const megabytes = 256;
    const sizes = about({ 'content-length': megabytes * MEGABYTE.length });
    answer = ({ method }, response) => {
      response.writeHead(200, sizes);
      if (method === 'HEAD') response.end();
      else pour(response, megabytes);
    };
    const growth = await growthOf(() =>
      expect(code.findFile(asked, new Date())).rejects.toMatchObject({ code: 'artifact.mismatched' }),
    );
    // Both ends are in this process, and what is free again is not given back at once: less than all of it is enough.
    expect(growth).toBeLessThan(200 * MEGABYTE.length);
  });

  test('does not grow with a signature of a hundred megabytes, of which only the beginning is read', async () => {
    let sent = 0;
    answer = (_, response) => {
      response.writeHead(200, about({ 'content-length': 100 * MEGABYTE.length }));
      pour(response, 100);
      response.on('close', () => (sent += response.socket?.bytesWritten ?? 0));
    };
    const bytes = await code.readObject(key, MEGABYTE.length);
    expect(bytes).toHaveLength(MEGABYTE.length);
    expect(sent).toBeLessThan(20 * MEGABYTE.length);
  });

  test.each([
    ['a listing', 200, () => code.listObjectVersions('projects/')],
    ['an error', 500, () => code.listObjectVersions('projects/')],
    ['an error in place of a file', 500, () => code.readObject(key, 10)],
    ['an answer to a deletion', 200, () => code.deleteVersion(key, 'v1')],
  ])('%s without end is not waited for, nor kept', async (_what, status, ask) => {
    let sent = 0;
    answer = (_, response) => {
      response.writeHead(status);
      pour(response, 1_000);
      response.on('close', () => (sent += response.socket?.bytesWritten ?? 0));
    };
    await ask().catch((error: unknown) => expect(error).toMatchObject({ code: 'store.unavailable' }));
    await until(() => sent > 0, 'the answer to be broken off');
    expect(sent).toBeLessThan(20 * MEGABYTE.length);
  });
});

describe('a listing is none when it', () => {
  const version =
    '<Version><Key>projects/k</Key><VersionId>v</VersionId><LastModified>2026-01-01T00:00:00.000Z</LastModified>';
  const whole = `<ListVersionsResult><IsTruncated>false</IsTruncated>${version}<Size>1</Size></Version></ListVersionsResult>`;

  test('has everything: then it is one', async () => {
    answer = (_, response) => response.writeHead(200).end(whole);
    expect((await code.listObjectVersions('projects/')).files).toHaveLength(1);
  });

  test.each([
    ['is empty', ''],
    ['is no XML', '{"Versions":[]}'],
    ['ends in the middle', whole.slice(0, -30)],
    ['ends before its last tag', whole.replace('</ListVersionsResult>', '')],
    ['closes what it did not open', whole.replace('</Version>', '</DeleteMarker>')],
    ['does not tell whether there is more', whole.replace('<IsTruncated>false</IsTruncated>', '')],
    ['does not tell where the rest begins', whole.replace('false', 'true')],
    ['does not tell the length of a version', whole.replace('<Size>1</Size>', '')],
    ['does not tell the time of a version', whole.replace('2026-01-01T00:00:00.000Z', 'soon')],
    ['is about something else', whole.replace('projects/k', 'projectsk')],
    ['names entities of its own', `<!DOCTYPE x [<!ENTITY a "/k">]>${whole.replace('/k<', '&a;<')}`],
    ['is nested without end', '<a>'.repeat(500_000)],
  ])('%s', async (_why, xml) => {
    answer = (_, response) => response.writeHead(200).end(xml);
    await expect(code.listObjectVersions('projects/')).rejects.toMatchObject({ code: 'store.unavailable' });
  });
});

test('a file larger than what is digested is refused at once, for good', async () => {
  answer = (_, response) => response.writeHead(200, about({ 'content-length': 513 * MEGABYTE.length })).end();
  await expect(code.findFile(asked, new Date())).rejects.toMatchObject({ code: 'artifact.unfit' });
  expect(asks).toEqual([`HEAD /${Bucket}/${key}`]);
});
