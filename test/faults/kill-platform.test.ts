import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  SFNClient,
} from '@aws-sdk/client-sfn';
import { afterAll, expect, inject, test } from 'vitest';
import { startCopy, type PlatformCopy, type ReadyFile } from '../e2e/platform-copy.ts';
import { readCredentials } from '../e2e/signed-fetch.ts';
import { until } from '../until.ts';
import { readRun, requestRun, type Run } from './runs.ts';

const HOPS = ['accepted', 'streamed', 'started', 'dispatched', 'answered', 'finished'];
const RUNS = 12;
const KILLS = 2;
// A message the platform held when it died is hidden until its queue's visibility timeout is over.
const RECOVERY_SECONDS_MAX = 150;
const SECONDS_MAX = 400;

const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-kill-'));
let copy: PlatformCopy | undefined;

afterAll(async () => {
  await copy?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** One after the other: a platform that has just come back has enough to do. */
async function readRuns(ready: ReadyFile, ids: string[]): Promise<Run[]> {
  const runs: Run[] = [];
  for (const id of ids) {
    const { status, body } = await readRun(ready, id);
    expect({ status, body }).toMatchObject({ status: 200, body: { id } });
    runs.push(body as Run);
  }
  return runs;
}

const hopsOf = (runs: Run[]): number => runs.flatMap((run) => run.hops).length;

async function successes(ready: ReadyFile): Promise<Map<string, number>> {
  const states = new SFNClient({
    endpoint: ready.aws_endpoint,
    region: ready.region,
    credentials: readCredentials(ready),
  });
  const counted = new Map<string, number>();
  const { stateMachines = [] } = await states.send(new ListStateMachinesCommand({}));
  for (const { stateMachineArn } of stateMachines) {
    const { executions = [] } = await states.send(new ListExecutionsCommand({ stateMachineArn }));
    for (const { executionArn, name = '' } of executions) {
      const { events = [] } = await states.send(new GetExecutionHistoryCommand({ executionArn }));
      counted.set(name, events.filter((event) => event.type === 'ExecutionSucceeded').length);
    }
  }
  return counted;
}

test(
  'a platform killed in the middle of self-tests ends them after the next start, each hop once',
  async () => {
    const assembly = inject('assembly');
    copy = await startCopy({ dataDir, assembly });
    const ids: string[] = [];
    for (let run = 0; run < RUNS; run++) ids.push(await requestRun(copy.ready));
    // Twice, so that what was already being recovered is interrupted as well.
    let seen: Run[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const { ready } = copy;
      // On a slow machine all may be over before there is a kill to interrupt them.
      const progress = Math.min(Math.max(RUNS, hopsOf(seen)) + 1, RUNS * HOPS.length);
      seen = await until(
        async () => {
          const runs = await readRuns(ready, ids);
          return hopsOf(runs) >= progress && runs;
        },
        'the runs to get on',
        RECOVERY_SECONDS_MAX,
      );
      await copy.kill();
      copy = await startCopy({ dataDir, assembly });
    }

    const { ready } = copy;
    const ended = await until(
      async () => {
        const runs = await readRuns(ready, ids);
        return runs.every((run) => ['passed', 'failed'].includes(run.status)) && runs;
      },
      'every run to end',
      RECOVERY_SECONDS_MAX,
    );
    for (const [index, run] of ended.entries()) {
      expect(run).toMatchObject({ status: 'passed' });
      expect(run.hops.map(({ hop }) => hop)).toEqual(HOPS);
      // What had happened before a kill did not happen again.
      expect(run.hops).toEqual(expect.arrayContaining(seen[index]?.hops ?? []));
    }
    await until(
      async () => [...(await successes(ready)).values()].every((count) => count === 1),
      'each execution to have succeeded exactly once',
      60,
    );
    expect([...(await successes(ready)).keys()]).toEqual(expect.arrayContaining(ids));
  },
  SECONDS_MAX * 1000,
);
