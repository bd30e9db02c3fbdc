import { generateKeyPairSync, hash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AgentStopping } from '../../../agent/runner/stopping.ts';
import type { TaskContext } from '../../../agent/tasks/performer.ts';
import { currentVersion, makeCurrent, releaseFile, writeRelease } from '../../../agent/update/releases.ts';
import { noteWentBack, readTrial } from '../../../agent/update/trial.ts';
import { createUpdate, type Update } from '../../../agent/update/update-agent.ts';
import { watchTrial } from '../../../agent/update/watch-trial.ts';
import type { Payload, Task } from '../../../functions/tasks/task.ts';
import { aTask, silent } from '../a-task.ts';
import { problem, type SmallPlatform, startSmallPlatform } from '../small-platform.ts';

let platform: SmallPlatform;
let stateDir: string;
let restarts: number;
const BUNDLE = Buffer.from('console.log("two")');
const digest = `sha256:${hash('sha256', BUNDLE)}` as const;
const TYPE = 'gpuaas-agent-release+jwt';

beforeAll(async () => {
  platform = await startSmallPlatform();
});
afterAll(() => platform.stop());

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
  writeRelease(stateDir, '1.0.0', Buffer.from('console.log("one")'));
  makeCurrent(stateDir, '1.0.0');
  restarts = 0;
  platform.asked.length = 0;
  release({});
  platform.on('GET /api/v1/agent/bundle.mjs', () => ({ body: BUNDLE }));
});

interface Released {
  more?: object;
  typ?: string;
  key?: Parameters<SmallPlatform['signed']>[2];
}

function release({ more = {}, typ = TYPE, key }: Released): void {
  const document = { version: '2.0.0', digest, size_bytes: BUNDLE.length, iat: 1, ...more };
  platform.on('GET /api/v1/agent/release', async () => ({
    body: { document: await platform.signed(document, typ, key) },
  }));
}

function updateOf(more: Partial<Update> = {}): Update {
  return {
    config: { url: platform.url, host_key: platform.hostKey },
    stateDir,
    version: '1.0.0',
    hasLauncher: true,
    trialPassed: Promise.resolve(),
    restart: () => void restarts++,
    ...more,
  };
}

const PAYLOAD: Payload<'agent.update'> = {
  version: '2.0.0',
  digest,
  path: '/api/v1/agent/bundle.mjs',
  trial_seconds: 180,
};

/** Performs the update as an agent would, which stops when it is asked to start anew. */
async function perform(update: Partial<Update> = {}, payload: Partial<typeof PAYLOAD> = {}, id = aTask().id) {
  const stopping = new AbortController();
  const task = aTask({ id, kind: 'agent.update', payload: { ...PAYLOAD, ...payload } });
  const context: TaskContext<'agent.update'> = {
    task: task as unknown as Task<'agent.update'>,
    signal: stopping.signal,
    step: silent,
    withOutcome: silent,
    now: () => new Date('2026-01-01T00:00:00.000Z'),
    log: silent,
  };
  const restart = () => {
    restarts++;
    stopping.abort(new AgentStopping());
  };
  return createUpdate(updateOf({ restart, ...update }))(context);
}

describe('a good release', () => {
  test('is written, marked as on trial, made current, and the agent asks to be started anew', async () => {
    const { id } = aTask();
    await expect(perform({}, {}, id)).rejects.toBeInstanceOf(AgentStopping);
    expect(restarts).toBe(1);
    expect(readFileSync(releaseFile(stateDir, '2.0.0'))).toEqual(BUNDLE);
    expect(statSync(releaseFile(stateDir, '2.0.0')).mode % 0o100).toBe(0);
    expect(lstatSync(join(stateDir, 'current')).isSymbolicLink()).toBe(true);
    expect(readlinkSync(join(stateDir, 'current'))).toBe('releases/2.0.0');
    expect(readTrial(stateDir)).toEqual({
      task_id: id,
      version: '2.0.0',
      digest,
      previous: '1.0.0',
      deadline_at: '2026-01-01T00:03:00.000Z',
    });
  });

  test('leaves the one before it, and none that is older', async () => {
    writeRelease(stateDir, '0.9.0', Buffer.from(''));
    await expect(perform()).rejects.toBeInstanceOf(AgentStopping);
    expect(readdirSync(join(stateDir, 'releases')).toSorted()).toEqual(['1.0.0', '2.0.0']);
  });

  test('that runs ends the task once its trial is passed', async () => {
    const { id } = aTask();
    await expect(perform({}, {}, id)).rejects.toBeInstanceOf(AgentStopping);
    const trial = watchTrial(stateDir, '2.0.0');
    const resumed = perform({ version: '2.0.0', trialPassed: trial.passed }, {}, id);
    trial.heard();
    expect(readTrial(stateDir)).toBeDefined();
    trial.converged();
    expect(await resumed).toEqual({ agent_version: '2.0.0' });
    expect(readTrial(stateDir)).toBeUndefined();
  });

  test('that is there already is there', async () => {
    expect(await perform({ version: '2.0.0' })).toEqual({ agent_version: '2.0.0' });
    expect(platform.asked).toEqual([]);
  });

  test('that did not pass its trial is reported by the one that runs again', async () => {
    const { id } = aTask();
    await expect(perform({}, {}, id)).rejects.toBeInstanceOf(AgentStopping);
    const trial = readTrial(stateDir);
    makeCurrent(stateDir, '1.0.0');
    if (trial) noteWentBack(stateDir, { ...trial, reason: 'Version 2.0.0 had no heartbeat accepted.' });
    await expect(perform({}, {}, id)).rejects.toMatchObject({
      code: 'update_rejected',
      message: 'Version 2.0.0 had no heartbeat accepted.',
    });
    // A later task may try again.
    await expect(perform()).rejects.toBeInstanceOf(AgentStopping);
  });
});

describe('a release is rejected, and nothing changes,', () => {
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const cases: [string, () => void, Partial<Update>?, Partial<typeof PAYLOAD>?][] = [
    [
      'whose bytes have another digest',
      () => platform.on('GET /api/v1/agent/bundle.mjs', () => ({ body: Buffer.from('console.log("2wo")') })),
    ],
    [
      'that is longer than it says',
      () => platform.on('GET /api/v1/agent/bundle.mjs', () => ({ body: Buffer.concat([BUNDLE, BUNDLE]) })),
    ],
    ['signed by somebody else', () => release({ key: stranger })],
    ['signed as something else', () => release({ typ: 'gpuaas-trust+jwt' })],
    ['of another version than was asked for', () => release({ more: { version: '2.0.1' } })],
    ['of another digest than was asked for', () => release({ more: { digest: `sha256:${'0'.repeat(64)}` } })],
    ['that is older than the one that runs', () => {}, { version: '2.1.0' }],
    [
      'signed to replace another newer one',
      () => release({ more: { downgrade_from: '2.2.0' } }),
      { version: '2.1.0' },
    ],
    [
      'that is not to be had',
      () => platform.on('GET /api/v1/agent/release', () => problem(404, 'route.unknown')),
    ],
    ['without a launcher to go back', () => {}, { hasLauncher: false }],
  ];
  test.each(cases)('%s', async (_, arrange, update = {}, payload = {}) => {
    arrange();
    await expect(perform(update, payload)).rejects.toMatchObject({ code: 'update_rejected' });
    expect(currentVersion(stateDir)).toBe('1.0.0');
    expect(readTrial(stateDir)).toBeUndefined();
    expect(existsSync(releaseFile(stateDir, '2.0.0'))).toBe(false);
    expect(restarts).toBe(0);
  });
});

test('an older release replaces the very one it is signed to replace', async () => {
  release({ more: { downgrade_from: '2.1.0' } });
  await expect(perform({ version: '2.1.0' })).rejects.toBeInstanceOf(AgentStopping);
  expect(currentVersion(stateDir)).toBe('2.0.0');
});
