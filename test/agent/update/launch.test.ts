import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launch } from '../../../agent/update/launch.ts';
import { currentVersion, makeCurrent, writeRelease } from '../../../agent/update/releases.ts';
import { beginTrial, readTrial, readWentBack } from '../../../agent/update/trial.ts';
import { until } from '../../until.ts';
import { silent } from '../a-task.ts';

let stateDir: string;
let stop: AbortController;
let launched: Promise<number>;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await launched;
});

/** A release that says that it has started, and then does this. */
function aRelease(version: string, does: string): void {
  const code = `import { appendFileSync, rmSync } from 'node:fs';
    const stateDir = process.argv[process.argv.indexOf('--state-dir') + 1];
    appendFileSync(stateDir + '/said', '${version} ' + process.argv[2] + ' ' + process.env.GPUAAS_AGENT_LAUNCHER + '\\n');
    const stay = () => { process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000); };
    ${does}`;
  writeRelease(stateDir, version, Buffer.from(code));
}

const said = () =>
  (existsSync(join(stateDir, 'said')) ? readFileSync(join(stateDir, 'said'), 'utf8') : '')
    .split('\n')
    .slice(0, -1);

function start(): void {
  launched = launch({ stateDir, log: silent, now: () => new Date() }, stop.signal);
}

function onTrial(version: string, seconds: number): void {
  const deadline_at = new Date(Date.now() + seconds * 1000).toISOString();
  beginTrial(stateDir, { task_id: 't', version, digest: 'd', previous: '1.0.0', deadline_at });
  makeCurrent(stateDir, version);
}

test('the current release is started, and started again when it dies', async () => {
  aRelease('1.0.0', `process.exit(1);`);
  makeCurrent(stateDir, '1.0.0');
  start();
  await until(() => said().length >= 2);
  expect(new Set(said())).toEqual(new Set(['1.0.0 run 1']));
});

test('a release that asks for it is followed by the current one', async () => {
  aRelease('1.0.0', `process.exit(75);`);
  aRelease('2.0.0', `stay();`);
  makeCurrent(stateDir, '1.0.0');
  start();
  makeCurrent(stateDir, '2.0.0');
  await until(() => said().includes('2.0.0 run 1'));
});

test('one that is configured wrongly is not started again', async () => {
  aRelease('1.0.0', `process.exit(2);`);
  makeCurrent(stateDir, '1.0.0');
  start();
  expect(await launched).toBe(2);
  expect(said()).toEqual(['1.0.0 run 1']);
});

test('a new release that is never heard of is taken back by itself', async () => {
  aRelease('1.0.0', `stay();`);
  aRelease('2.0.0', `stay();`);
  onTrial('2.0.0', 1);
  start();
  await until(() => said().at(-1) === '1.0.0 run 1');
  expect(said()).toEqual(['2.0.0 run 1', '1.0.0 run 1']);
  expect(currentVersion(stateDir)).toBe('1.0.0');
  expect(readTrial(stateDir)).toBeUndefined();
  expect(readWentBack(stateDir)).toMatchObject({
    task_id: 't',
    version: '2.0.0',
    reason: expect.stringContaining('no heartbeat'),
  });
});

test('one that cannot even start is taken back before its time is up', async () => {
  aRelease('1.0.0', `stay();`);
  aRelease('2.0.0', `process.exit(2);`);
  onTrial('2.0.0', 600);
  start();
  await until(() => said().includes('1.0.0 run 1'));
  expect(said().filter((line) => line.startsWith('2.0.0'))).toHaveLength(3);
  expect(readWentBack(stateDir)?.reason).toContain('ended 3 times');
});

test('one that passes its trial stays, also when it ends later', async () => {
  aRelease('1.0.0', `stay();`);
  aRelease('2.0.0', `rmSync(stateDir + '/trial.json', { force: true }); process.exit(1);`);
  onTrial('2.0.0', 1);
  start();
  await until(() => said().length >= 4, 'four starts');
  expect(new Set(said())).toEqual(new Set(['2.0.0 run 1']));
});

test('the agent is told to stop when the launcher is', async () => {
  aRelease('1.0.0', `stay();`);
  makeCurrent(stateDir, '1.0.0');
  start();
  await until(() => said().length === 1);
  stop.abort();
  expect(await launched).toBe(0);
});
