import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { markForgotten } from '../../../agent/platform/mark-forgotten.ts';
import { createNodeTokens } from '../../../agent/platform/node-token.ts';
import { createPlatformClient } from '../../../agent/platform/platform-client.ts';
import type { WorkloadRecord } from '../../../agent/tasks/performer.ts';
import { problem, type SmallPlatform, startSmallPlatform } from '../small-platform.ts';

let platform: SmallPlatform;
let journal: Journal;
const now = () => new Date();

beforeAll(async () => {
  platform = await startSmallPlatform();
});
afterAll(() => platform.stop());
beforeEach(() => {
  journal = openJournal(mkdtempSync(join(tmpdir(), 'agent-')), now);
});
afterEach(() => journal.close());

function hold(desired: WorkloadRecord['desired'] = 'present'): string {
  const workload_id = randomUUID();
  journal.workloads.putWorkload({ workload_id, fence: 1, desired, kind: 'oci', payload: '{}' });
  return workload_id;
}

const assigned = (workload_id: string, desired = 'present') => ({
  workload_id,
  allocation_id: randomUUID(),
  project_id: randomUUID(),
  desired,
  fence: 1,
});

function mark(): Promise<number> {
  const { url, nodeId, privateKey } = platform;
  const ask = createPlatformClient(url, createNodeTokens(url, nodeId, privateKey, now));
  return markForgotten(ask, nodeId, journal.workloads, new AbortController().signal);
}

const desiredOf = (id: string) => journal.workloads.getWorkload(id)?.desired;

test('only what the platform does not know at all is marked, whichever page it would be on', async () => {
  const [kept, leaving, stopped, forgotten] = [hold(), hold(), hold('stopped'), hold()];
  const pages = [
    { items: [assigned(kept)], next_cursor: 'next' },
    { items: [assigned(leaving, 'absent'), assigned(stopped)], next_cursor: null },
  ];
  let page = 0;
  platform.on(`GET ${platform.at('/workloads')}`, () => ({ body: pages[page++] ?? {} }));
  expect(await mark()).toBe(1);
  expect([kept, leaving, stopped, forgotten].map(desiredOf)).toEqual([
    'present',
    'present',
    'stopped',
    'absent',
  ]);
});

test('a platform that does not answer, or not to the end, forgets nothing', async () => {
  const held = hold();
  let page = 0;
  platform.on(`GET ${platform.at('/workloads')}`, () =>
    page++ === 0 ? { body: { items: [], next_cursor: 'next' } } : problem(500, 'internal'),
  );
  await expect(mark()).rejects.toThrow('internal');
  expect(desiredOf(held)).toBe('present');
});
