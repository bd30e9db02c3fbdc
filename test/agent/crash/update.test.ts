// An update of the agent ends in another process than it began in; both are killed at each step of it.

import { hash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { currentVersion, makeCurrent, writeRelease } from '../../../agent/update/releases.ts';
import { readTrial } from '../../../agent/update/trial.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { until } from '../../until.ts';
import { agentFile } from '../serving/agent-file.ts';
import type { Host } from './host.ts';
import { openWorld, type World } from './world.ts';

const SECONDS_MAX = 300;
const NEXT = '99.0.0';

let world: World;
let next: Buffer;

beforeAll(async () => {
  world = await openWorld();
  const text = readFileSync(agentFile(), 'utf8');
  next = Buffer.from(text.replaceAll(JSON.stringify(manifest.version), JSON.stringify(NEXT)));
});
afterAll(() => world?.close());

async function openLaunchedHost(): Promise<Host> {
  const host = await world.openHost({ isLaunched: true });
  writeRelease(host.stateDir, manifest.version, readFileSync(agentFile()));
  makeCurrent(host.stateDir, manifest.version);
  const release = { version: NEXT, digest: digestOf(next), size_bytes: next.length, iat: 1 };
  const document = await host.http.signed(release, 'gpuaas-agent-release+jwt');
  host.http.on('GET /api/v1/agent/release', () => ({ body: { document } }));
  host.http.on('GET /api/v1/agent/bundle.mjs', () => ({ body: next }));
  return host;
}

const digestOf = (bundle: Buffer): string => `sha256:${hash('sha256', bundle)}`;

async function update(host: Host): Promise<void> {
  const payload = {
    version: NEXT,
    digest: digestOf(next),
    path: '/api/v1/agent/bundle.mjs',
    trial_seconds: 120,
  };
  const task = host.taskOf('agent.update', host.nodeId, payload);
  host.agent.start();
  const [outcome] = await host.run([task], SECONDS_MAX);
  expect(outcome).toMatchObject({ status: 'succeeded', result: { agent_version: NEXT } });
  await until(
    () => host.agent.steps().some(({ label }) => label === 'report.sent'),
    'the report',
    SECONDS_MAX,
  );
  for (const again of host.outcomesOf(task)) expect(again).toEqual(outcome);
  expect(currentVersion(host.stateDir)).toBe(NEXT);
  expect(readTrial(host.stateDir)).toBeUndefined();
}

test(
  'an update is ended by the new release, wherever the old or the new one is killed',
  async () => {
    const first = await openLaunchedHost();
    await update(first);
    const steps = first.agent.steps().map(({ label }) => label);
    expect(steps).toEqual(expect.arrayContaining(['step update.download', 'step update.swap', 'task.ended']));
    await first.agent.end('SIGTERM');
    await Promise.all(
      steps.map(async (label, index) => {
        const host = await openLaunchedHost();
        host.agent.killAt([{ id: randomUUID(), message: index + 1 }]);
        await update(host);
        await until(() => host.agent.killed().length === 1, `it to die at ${label}`, SECONDS_MAX);
        await host.agent.end('SIGTERM');
      }),
    );
  },
  SECONDS_MAX * 1000,
);
