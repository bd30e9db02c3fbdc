import { SFNClient, StartExecutionCommand, DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../../../lib/bundle.ts';
import { StepFunctions } from '../../../lib/local/step-functions/index.ts';
import { ACCOUNT, REGION } from '../../../lib/local/wire/aws.ts';
import { until } from '../../until.ts';
import { allow, HostedWorld } from '../lambda/hosted-world.ts';
import { functionSpec, roleArn } from '../lambda/lambda-world.ts';
import { functionArn, invoke } from './step-functions-world.ts';

// A function in a worker of its own, ended when its time is over, as the workflow that called it is told.

const NAME = 'hangs-once';
const MACHINE = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${NAME}`;

let world: HostedWorld;
let machines: StepFunctions;

beforeAll(async () => {
  world = new HostedWorld();
  machines = new StepFunctions({ journal: world.journal, principals: world.principals });
  await world.open([machines.service]);
  machines.start();
  world.grant(NAME, allow(['lambda:InvokeFunction'], functionArn(NAME)));
  const codeDir = world.file(NAME);
  mkdirSync(codeDir);
  writeFileSync(
    join(codeDir, 'index.mjs'),
    `import { existsSync, writeFileSync } from 'node:fs';
     export const handler = async ({ mark }) => {
       if (existsSync(mark)) return 'done';
       writeFileSync(mark, '');
       await new Promise((resolve) => setTimeout(resolve, 60_000));
     };`,
  );
  world.hosted.put(functionSpec({ name: NAME, codeDir, timeoutSeconds: 0.5 }));
});
afterAll(async () => {
  await machines.stop();
  await world.close();
});

async function run(mark: string, rest: object) {
  machines.put({
    name: NAME,
    arn: MACHINE,
    roleArn: roleArn(NAME),
    definition: { StartAt: 'Do', States: { Do: invoke(NAME, { ...rest, End: true }) } },
  });
  const sfn = new SFNClient(world.operator());
  const { executionArn } = await sfn.send(
    new StartExecutionCommand({
      stateMachineArn: MACHINE,
      input: JSON.stringify({ mark: world.file(mark) }),
    }),
  );
  return until(async () => {
    const seen = await sfn.send(new DescribeExecutionCommand({ executionArn }));
    return seen.status !== 'RUNNING' && seen;
  }, 'the execution to end');
}

test('a function whose time is over is Sandbox.Timedout to the workflow that called it', async () => {
  const { status, error, cause } = await run('once', {});
  expect({ status, error }).toEqual({ status: 'FAILED', error: 'Sandbox.Timedout' });
  expect(JSON.parse(cause ?? '')).toMatchObject({
    errorType: 'Sandbox.Timedout',
    errorMessage: expect.stringContaining('Task timed out after 0.50 seconds') as string,
  });
});

test('as the steps of the platform retry, the second call succeeds', async () => {
  const text = readFileSync(join(ROOT, 'state-machines', 'run-selftest.asl.json'), 'utf8');
  const { States } = JSON.parse(text) as { States: Record<string, { Retry?: object[] }> };
  expect(await run('again', { Retry: States['FinishSelftest']?.Retry })).toMatchObject({
    status: 'SUCCEEDED',
    output: '"done"',
  });
});
