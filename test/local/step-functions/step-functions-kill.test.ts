import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { REGION } from '../../../lib/local/wire/aws.ts';
import type { AwsCredentials } from '../../../lib/local/iam/principals.ts';
import { until } from '../../until.ts';

let dataDir: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'step-functions-kill-'));
});
afterEach(async () => {
  await kill();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Ready {
  endpoint: string;
  credentials: AwsCredentials;
  arns: { count: string; ask: string };
}

async function start(): Promise<Ready & { sfn: SFNClient }> {
  const script = join(import.meta.dirname, 'step-functions-process.ts');
  const started = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  const { promise, resolve, reject } = Promise.withResolvers<Ready>();
  createInterface({ input: started.stdout }).once('line', (line) => resolve(JSON.parse(line) as Ready));
  started.once('exit', () => reject(new Error('The process ended before it was ready.')));
  const ready = await promise;
  const { endpoint, credentials } = ready;
  return { ...ready, sfn: new SFNClient({ endpoint, region: REGION, credentials, maxAttempts: 1 }) };
}

async function kill(): Promise<void> {
  if (!child || child.signalCode !== null || child.exitCode !== null) return;
  const exited = new Promise((resolve) => child?.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

const effects = (): string[] => {
  const file = join(dataDir, 'effects');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
};

const end = (sfn: SFNClient, executionArn: string | undefined) =>
  until(async () => {
    const seen = await sfn.send(new DescribeExecutionCommand({ executionArn }));
    return seen.status !== 'RUNNING' && seen;
  }, 'the end of the execution');

test('killed while it waits for a token, it goes on where it was, and nothing is done twice', async () => {
  const before = await start();
  const { executionArn } = await before.sfn.send(
    new StartExecutionCommand({ stateMachineArn: before.arns.ask, name: 'ask', input: '{"step":1}' }),
  );
  await until(async () => {
    const { events } = await before.sfn.send(new GetExecutionHistoryCommand({ executionArn }));
    return events?.some(({ type }) => type === 'TaskSubmitted');
  }, 'the token to be sent');
  const [, token = ''] = effects();
  await kill();
  const after = await start();
  await after.sfn.send(
    new SendTaskSuccessCommand({ taskToken: token.slice('token '.length), output: '{"step":7}' }),
  );
  expect(await end(after.sfn, executionArn)).toMatchObject({ status: 'SUCCEEDED', output: '{"step":8}' });
  expect(effects()).toEqual(['step 1', expect.stringMatching(/^token /), 'step 7']);
});

test('killed again and again, it does every step, in order, and repeats at most the one under way', async () => {
  const kills = 2;
  let executionArn: string | undefined;
  for (let n = 0; n < kills; n++) {
    const { sfn, arns } = await start();
    // The same start each time: it finds the running execution by its name.
    const command = new StartExecutionCommand({
      stateMachineArn: arns.count,
      name: 'count',
      input: '{"step":0}',
    });
    ({ executionArn } = await sfn.send(command));
    await until(() => effects().length >= (n + 1) * 2, 'some steps');
    await wait(Math.random() * 40);
    await kill();
  }
  const { sfn } = await start();
  expect(await end(sfn, executionArn)).toMatchObject({ status: 'SUCCEEDED', output: '{"step":10}' });
  const steps = effects().map((line) => Number(line.slice('step '.length)));
  expect([...new Set(steps)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
  expect(steps.length).toBeLessThanOrEqual(10 + kills);
});
