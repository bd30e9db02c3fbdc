import { tmpdir } from 'node:os';
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Heartbeat } from '../../../functions/nodes/agent-api.ts';
import { sendHeartbeats, Superseded, type Vitals } from '../../../agent/heartbeat/heartbeat.ts';
import { readVitals } from '../../../agent/heartbeat/vitals.ts';
import { createNodeTokens } from '../../../agent/platform/node-token.ts';
import { createPlatformClient } from '../../../agent/platform/platform-client.ts';
import { until } from '../../until.ts';
import { silent } from '../a-task.ts';
import { problem, type SmallPlatform, startSmallPlatform } from '../small-platform.ts';

let platform: SmallPlatform;
let accepted: number;
let returned: number;
const now = () => new Date();

beforeAll(async () => {
  platform = await startSmallPlatform();
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.asked.length = 0;
  accepted = 0;
  returned = 0;
});

function beat(look: () => Vitals, signal: AbortSignal): Promise<void> {
  const { url, nodeId, privateKey } = platform;
  const ask = createPlatformClient(url, createNodeTokens(url, nodeId, privateKey, now));
  const onAccepted = () => void accepted++;
  const onReturn = () => void returned++;
  return sendHeartbeats(
    { nodeId, ask, seconds: 60, look: () => Promise.resolve(look()), onAccepted, onReturn, log: silent, now },
    signal,
  );
}

const beats = () => platform.askedFor(platform.at('/heartbeat')).map(({ body }) => v.parse(Heartbeat, body));

test('a heartbeat tells only what has changed, as often as the platform says', async () => {
  platform.on(`POST ${platform.at('/heartbeat')}`, () => ({ body: { heartbeat_seconds: 1 } }));
  const vitals: Vitals[] = [
    { workloads: 1, load: 0, problems: [] },
    { workloads: 1, load: 2, problems: [] },
    { workloads: 1, load: 2, problems: ['disk'] },
  ];
  let next = 0;
  const stop = new AbortController();
  const beating = beat(() => vitals[next++] ?? {}, stop.signal);
  await until(() => accepted === 3);
  stop.abort();
  await beating;
  const [first, second, third] = beats();
  expect(first).toMatchObject({ sequence: 1, workloads: 1, load: 0, problems: [] });
  expect(second).toMatchObject({ sequence: 2, load: 2 });
  expect(second).not.toHaveProperty('workloads');
  expect(third).toMatchObject({ sequence: 3, run_id: first?.run_id, problems: ['disk'] });
  expect(third).not.toHaveProperty('load');
});

test('what a heartbeat said that was not accepted is said again, soon', async () => {
  let failures = 1;
  platform.on(`POST ${platform.at('/heartbeat')}`, () =>
    failures-- > 0 ? problem(503, 'unavailable', true) : { body: { heartbeat_seconds: 60 } },
  );
  const stop = new AbortController();
  const beating = beat(() => ({ load: 3 }), stop.signal);
  await until(() => accepted === 1);
  stop.abort();
  await beating;
  expect(beats().map(({ load }) => load)).toEqual([3, 3]);
  expect(returned).toBe(1);
});

test('a run whose key a later one has used ends', async () => {
  platform.on(`POST ${platform.at('/heartbeat')}`, () => problem(409, 'node.key_cloned'));
  await expect(beat(() => ({}), new AbortController().signal)).rejects.toBeInstanceOf(Superseded);
});

test('what is told of this machine is what the platform takes', async () => {
  const vitals = await readVitals(tmpdir());
  const run = { run_id: '0190a000-0000-7000-8000-000000000001', run_started_at: now().toISOString() };
  expect(v.is(Heartbeat, { ...run, sequence: 1, agent_version: '1.0.0', ...vitals })).toBe(true);
});
