import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { fixture, functionSpec, LambdaWorld, recorded, roleArn } from './lambda-world.ts';

let world: LambdaWorld;
beforeEach(() => {
  world = new LambdaWorld();
});
afterEach(() => world.close());

const DESTINATION = 'arn:aws:sqs:us-east-1:000000000000:failures';
const event = (value: unknown) => Buffer.from(JSON.stringify(value));

function recorder(name: string, environment: Record<string, string> = {}, more: object = {}) {
  const file = world.file(`${name}.jsonl`);
  const spec = functionSpec({
    name,
    codeDir: fixture('recorder'),
    environment: { RECORD_FILE: file, ...environment },
    ...more,
  });
  return { file, spec };
}

function waitingInJournal(functionName: string): number {
  const query = 'SELECT COUNT(*) AS waiting FROM async_invocation WHERE function_name = ?';
  return (world.journal.prepare(query).get(functionName) as { waiting: number }).waiting;
}

/** Keeps what is delivered; refuses the first few if asked to. */
function destination(refusals = 0) {
  const delivered: { arn: string; roleArn: string; record: Record<string, unknown> }[] = [];
  const deliver = (arn: string, onBehalfOfRoleArn: string, body: string): Promise<void> => {
    if (refusals-- > 0) return Promise.reject(new Error('the queue is away'));
    delivered.push({ arn, roleArn: onBehalfOfRoleArn, record: JSON.parse(body) as Record<string, unknown> });
    return Promise.resolve();
  };
  return { delivered, deliver };
}

test('an asynchronous invocation runs once and leaves nothing in the journal', async () => {
  const functions = world.functions();
  const { file, spec } = recorder('once');
  functions.put(spec);
  functions.start();
  functions.invokeAsync('once', event({ n: 1 }));
  await until(() => recorded(file).length === 1 && waitingInJournal('once') === 0);
  expect(recorded(file)[0]?.event).toEqual({ n: 1 });
});

test('a failing one is tried again after each delay with the same request id, until it succeeds', async () => {
  const functions = world.functions({ asyncRetryDelaysMs: [100, 300] });
  const { file, spec } = recorder('flaky', { FAIL_TIMES: '2' });
  functions.put(spec);
  functions.start();
  functions.invokeAsync('flaky', event({ n: 1 }));
  await until(() => recorded(file).length > 0 && waitingInJournal('flaky') === 0);
  const attempts = recorded(file);
  expect(new Set(attempts.map(({ requestId }) => requestId)).size).toBe(1);
  expect(attempts).toHaveLength(3);
  const [first, second, third] = attempts.map(({ atMs }) => atMs) as [number, number, number];
  expect(second - first).toBeGreaterThanOrEqual(100);
  expect(third - second).toBeGreaterThanOrEqual(300);
});

test('when retries are used up the failure goes to its destination as AWS describes it', async () => {
  const { delivered, deliver } = destination();
  const functions = world.functions({ asyncRetryDelaysMs: [10], deliver });
  const { file, spec } = recorder(
    'hopeless',
    { FAIL_ON: 'bad' },
    { asyncRetriesMax: 1, asyncOnFailureArn: DESTINATION },
  );
  functions.put(spec);
  functions.start();
  functions.invokeAsync('hopeless', event({ bad: true }));
  await until(() => delivered.length === 1 && waitingInJournal('hopeless') === 0);
  expect(recorded(file)).toHaveLength(2);
  expect(delivered[0]).toEqual({
    arn: DESTINATION,
    roleArn: roleArn('hopeless'),
    record: {
      version: '1.0',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      requestContext: {
        requestId: recorded(file)[0]?.requestId,
        functionArn: `${spec.arn}:$LATEST`,
        condition: 'RetriesExhausted',
        approximateInvokeCount: 2,
      },
      requestPayload: { bad: true },
      responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
      responsePayload: { errorType: 'Error', errorMessage: '1 poisoned', trace: expect.any(Array) },
    },
  });
});

test('a destination that is away is tried again without running the function again', async () => {
  const { delivered, deliver } = destination(1);
  const functions = world.functions({ deliver });
  const { file, spec } = recorder(
    'undeliverable',
    { FAIL_ON: 'bad' },
    { asyncRetriesMax: 0, asyncOnFailureArn: DESTINATION },
  );
  functions.put(spec);
  functions.start();
  functions.invokeAsync('undeliverable', event({ bad: true }));
  await until(() => delivered.length === 1 && waitingInJournal('undeliverable') === 0);
  expect(recorded(file)).toHaveLength(1);
});

test('a throttled event waits without using up its retries, and is given up when it is too old', async () => {
  const { delivered, deliver } = destination();
  const functions = world.functions({ deliver });
  const throttled = { reservedConcurrency: 0, asyncRetriesMax: 0, asyncOnFailureArn: DESTINATION };
  const patient = recorder('patient', {}, throttled);
  const impatient = recorder('impatient', {}, { ...throttled, asyncAgeSecondsMax: 0.5 });
  functions.put(patient.spec);
  functions.put(impatient.spec);
  functions.start();
  functions.invokeAsync('patient', event({}));
  functions.invokeAsync('impatient', event({}));
  await until(() => delivered.length === 1);
  expect(delivered[0]?.record).toMatchObject({
    requestContext: {
      functionArn: `${impatient.spec.arn}:$LATEST`,
      condition: 'EventAgeExceeded',
      approximateInvokeCount: 0,
    },
  });
  expect(delivered[0]?.record).not.toHaveProperty('responsePayload');
  functions.put({ ...patient.spec, reservedConcurrency: 1 });
  await until(() => recorded(patient.file).length === 1 && waitingInJournal('patient') === 0);
});

test('a slow function does not hold up the asynchronous invocations of another', async () => {
  const functions = world.functions();
  const slow = recorder('slow', { HANG: '60000' });
  const quick = recorder('quick');
  functions.put(slow.spec);
  functions.put(quick.spec);
  functions.start();
  for (let n = 0; n < 20; n++) functions.invokeAsync('slow', event({ n }));
  functions.invokeAsync('quick', event({}));
  await until(() => recorded(quick.file).length === 1);
  expect(recorded(slow.file).length).toBeLessThanOrEqual(4);
  await functions.stop();
});

test('what was accepted and not begun is run by the next process', async () => {
  const { file, spec } = recorder('later');
  const before = world.functions();
  before.put(spec);
  before.invokeAsync('later', event({ n: 1 }));
  const after = world.functions();
  after.put(spec);
  after.start();
  await until(() => recorded(file).length === 1 && waitingInJournal('later') === 0);
});

test('what was under way when the process was killed is run again by the next', async () => {
  const { file, spec } = recorder('survivor');
  const script = fileURLToPath(new URL('../fixtures/async-victim.ts', import.meta.url));
  const victim = spawn(process.execPath, [script, world.dataDir, file], { stdio: 'inherit' });
  await until(() => recorded(file).length === 1);
  victim.kill('SIGKILL');
  await once(victim, 'exit');
  const functions = world.functions();
  functions.put(spec);
  functions.start();
  await until(() => recorded(file).length === 2 && waitingInJournal('survivor') === 0);
  const [first, second] = recorded(file);
  expect(second).toMatchObject({ requestId: first?.requestId, event: { important: true } });
});

test('what a stop cut short does not count as a failure', async () => {
  const { file, spec } = recorder(
    'cut-short',
    { HANG: '60000' },
    { timeoutSeconds: 120, asyncRetriesMax: 0 },
  );
  const before = world.functions();
  before.put(spec);
  before.start();
  before.invokeAsync('cut-short', event({}));
  await until(() => recorded(file).length === 1);
  await before.stop();
  expect(waitingInJournal('cut-short')).toBe(1);
  const after = world.functions();
  after.put({ ...spec, environment: { RECORD_FILE: file } });
  after.start();
  await until(() => recorded(file).length === 2 && waitingInJournal('cut-short') === 0);
});

test('an event whose function is gone is dropped', async () => {
  const before = world.functions();
  before.put(recorder('gone').spec);
  before.invokeAsync('gone', event({}));
  const after = world.functions();
  after.start();
  await until(() => waitingInJournal('gone') === 0);
});
