import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { createNodeTokens } from '../../../agent/platform/node-token.ts';
import { createPlatformClient } from '../../../agent/platform/platform-client.ts';
import { createReportSender, type ReportSender } from '../../../agent/platform/send-reports.ts';
import { until } from '../../until.ts';
import { silent } from '../a-task.ts';
import { problem, type SmallPlatform, startSmallPlatform } from '../small-platform.ts';

let platform: SmallPlatform;
let journal: Journal;
let sender: ReportSender;
const now = () => new Date();

beforeAll(async () => {
  platform = await startSmallPlatform();
});
afterAll(() => platform.stop());

beforeEach(() => {
  platform.asked.length = 0;
  journal = openJournal(mkdtempSync(join(tmpdir(), 'agent-')), now);
  const { url, nodeId, privateKey } = platform;
  const ask = createPlatformClient(url, createNodeTokens(url, nodeId, privateKey, now));
  sender = createReportSender(journal.reports, ask, { log: silent, now });
});
afterEach(() => journal.close());

test('reports go to the platform, and stay until it has taken them', async () => {
  let isDown = true;
  platform.on('POST /a', () => (isDown ? problem(503, 'unavailable', true) : {}));
  journal.reports.keep('a', '/a', { n: 1 }, now());
  expect(await sender.flush()).toBe(1);
  isDown = false;
  expect(await sender.flush()).toBe(0);
  const keys = platform.askedFor('/a').map(({ headers }) => headers['x-idempotency-key']);
  expect(new Set(keys).size).toBe(1);
});

test('one that the platform refuses does not keep the others', async () => {
  platform.on('POST /bad', () => problem(409, 'task.ended'));
  platform.on('POST /broken', () => problem(500, 'internal'));
  platform.on('POST /good', () => ({}));
  journal.reports.keep('bad', '/bad', {}, now());
  journal.reports.keep('broken', '/broken', {}, now());
  for (let count = 0; count < 20; count++) journal.reports.keep(`good-${count}`, '/good', { count }, now());
  expect(await sender.flush()).toBe(1);
  expect(platform.askedFor('/good')).toHaveLength(20);
  expect(journal.reports.list(10).map(({ about }) => about)).toEqual(['broken']);
});

test('one that nobody took for two weeks is dropped', async () => {
  platform.on('POST /broken', () => problem(500, 'internal'));
  journal.reports.keep('broken', '/broken', {}, new Date(Date.now() - 15 * 24 * 3600_000));
  expect(await sender.flush()).toBe(0);
});

test('what is told while an older report about the same is on its way is sent, too', async () => {
  platform.on('POST /w', ({ body }) => {
    if ((body as { n: number }).n === 1) journal.reports.keep('w', '/w', { n: 2 }, now());
    return {};
  });
  journal.reports.keep('w', '/w', { n: 1 }, now());
  expect(await sender.flush()).toBe(0);
  expect(platform.askedFor('/w').map(({ body }) => body)).toEqual([{ n: 1 }, { n: 2 }]);
});

test('a running sender sends what is kept, and again after a failure', async () => {
  let failures = 2;
  platform.on('POST /later', () => (failures-- > 0 ? problem(503, 'unavailable', true) : {}));
  const stop = new AbortController();
  const running = sender.run(stop.signal);
  journal.reports.keep('one', '/later', { n: 1 }, now());
  await until(() => journal.reports.count() === 0);
  journal.reports.keep('two', '/later', { n: 2 }, now());
  await until(() => journal.reports.count() === 0);
  stop.abort();
  await running;
  expect(platform.askedFor('/later').map(({ body }) => body)).toEqual([
    { n: 1 },
    { n: 1 },
    { n: 1 },
    { n: 2 },
  ]);
});
