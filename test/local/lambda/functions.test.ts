import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { AwsError } from '../../../lib/local/wire/aws.ts';
import type { Functions } from '../../../lib/local/lambda/functions.ts';
import { until } from '../../until.ts';
import { fixture, functionSpec, LambdaWorld, roleArn } from './lambda-world.ts';

const world = new LambdaWorld();
const functions = world.functions();
afterAll(() => world.close());

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const probe = (name: string, overrides: Parameters<typeof functionSpec>[0] = { name }) =>
  functions.put(functionSpec({ ...overrides, name }));

async function ask(name: string, event: object, of: Functions = functions): Promise<unknown> {
  const invocation = await of.invoke(name, json(event));
  return JSON.parse(invocation.payload.toString('utf8')) as unknown;
}

test('a function answers by name, by ARN and by ARN with a qualifier', async () => {
  probe('echo');
  const arn = 'arn:aws:lambda:us-east-1:000000000000:function:echo';
  for (const name of ['echo', 'echo:$LATEST', arn, `${arn}:$LATEST`, '000000000000:function:echo']) {
    expect(await ask(name, { do: 'echo', a: [1] })).toEqual({ do: 'echo', a: [1] });
  }
});

test('a handler that returns nothing answers null', async () => {
  probe('nothing');
  expect(await ask('nothing', { do: 'nothing' })).toBeNull();
});

test('an unknown function is not found', async () => {
  await expect(functions.invoke('stranger', json({}))).rejects.toMatchObject({
    code: 'ResourceNotFoundException',
    status: 404,
  });
  expect(() => functions.invokeAsync('stranger', json({}))).toThrow(AwsError);
});

test('the environment is the one of the template and of Lambda, and nothing else', async () => {
  process.env['LEAK_FROM_PARENT'] = 'must not be seen';
  world.endpoint = 'http://127.0.0.1:4711';
  probe('environment', {
    name: 'environment',
    environment: { TABLE: 'things', TZ: 'Europe/Berlin' },
    memoryMb: 256,
  });
  const environment = (await ask('environment', { do: 'environment' })) as Record<string, string>;
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, ...rest } = environment;
  expect(rest).toEqual({
    TABLE: 'things',
    TZ: 'Europe/Berlin',
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    _HANDLER: 'index.handler',
    _X_AMZN_TRACE_ID: expect.stringMatching(
      /^Root=1-[0-9a-f]{8}-[0-9a-f]{24};Parent=[0-9a-f]{16};Sampled=0$/,
    ),
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:4711',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
    AWS_LAMBDA_FUNCTION_NAME: 'environment',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/environment',
    AWS_LAMBDA_LOG_STREAM_NAME: expect.stringMatching(/^\d{4}\/\d\d\/\d\d\/\[\$LATEST\][0-9a-f]{32}$/),
    LAMBDA_TASK_ROOT: fixture('probe'),
  });
  const known = world.principals.find(AWS_ACCESS_KEY_ID ?? '', AWS_SESSION_TOKEN);
  expect(known).toMatchObject({
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    principal: { kind: 'role', roleArn: roleArn('environment'), sessionName: 'environment' },
  });
});

test('an ES module sees no CommonJS globals, as at AWS', async () => {
  probe('globals');
  expect(await ask('globals', { do: 'globals' })).toEqual([]);
});

test('the context is the one Lambda gives', async () => {
  probe('context', { name: 'context', timeoutSeconds: 7 });
  const context = (await ask('context', { do: 'context' })) as Record<string, unknown>;
  expect(context).toMatchObject({
    functionName: 'context',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:context',
    memoryLimitInMB: '128',
    awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    logGroupName: '/aws/lambda/context',
    callbackWaitsForEmptyEventLoop: true,
  });
  expect(context['remainingMs']).toBeGreaterThan(6000);
  expect(context['remainingMs']).toBeLessThanOrEqual(7000);
});

test('what a handler throws is the answer, with its type, message and trace', async () => {
  probe('throws');
  const thrown = await functions.invoke('throws', json({ do: 'throw' }));
  expect(thrown).toMatchObject({ ok: false, errorType: 'RangeError', errorMessage: 'out of range' });
  const { trace } = JSON.parse(thrown.payload.toString('utf8')) as { trace: string[] };
  expect(trace[0]).toBe('RangeError: out of range');
  expect(trace.join()).toContain('probe/index.mjs');
  expect(trace.join()).not.toContain('worker eval');
  expect(await ask('throws', { do: 'throwText' })).toEqual({
    errorType: 'string',
    errorMessage: 'just text',
    trace: [],
  });
});

test('a function that takes too long is ended, also out of an endless loop, and the next one is served', async () => {
  probe('slow', { name: 'slow', timeoutSeconds: 0.2 });
  for (const event of [{ do: 'sleep', ms: 60_000 }, { do: 'loop' }]) {
    const invocation = await functions.invoke('slow', json(event));
    expect(invocation).toMatchObject({
      ok: false,
      errorType: 'Sandbox.Timedout',
      errorMessage: expect.stringMatching(
        /^RequestId: [0-9a-f-]{36} Error: Task timed out after 0\.20 seconds$/,
      ),
    });
  }
  expect(await ask('slow', { do: 'echo' })).toEqual({ do: 'echo' });
});

test.each([
  [
    { do: 'exit', code: 0 },
    'Runtime.ExitError',
    /^RequestId: \S+ Error: Runtime exited without providing a reason$/,
  ],
  [
    { do: 'exit', code: 7 },
    'Runtime.ExitError',
    /^RequestId: \S+ Error: Runtime exited with error: exit status 7$/,
  ],
  [{ do: 'uncaught' }, 'TypeError', /^nobody caught this$/],
  [{ do: 'unhandledRejection' }, 'Runtime.UnhandledPromiseRejection', /^Error: nobody handled this$/],
  [
    { do: 'eatMemory' },
    'Runtime.ExitError',
    /^RequestId: \S+ Error: Runtime exited with error: signal: killed$/,
  ],
])('%j costs its own invocation and no other', async (event, errorType, errorMessage) => {
  const name = `crash-${event.do}-${'code' in event ? event.code : ''}`;
  probe(name, { name, timeoutSeconds: 30 });
  const neighbour = ask(name, { do: 'sleep', ms: 200 });
  const crash = await functions.invoke(name, json(event));
  expect(crash).toMatchObject({ ok: false, errorType, errorMessage: expect.stringMatching(errorMessage) });
  expect(await neighbour).toMatchObject({ invocations: 1 });
  expect(await ask(name, { do: 'echo' })).toEqual({ do: 'echo' });
});

test('a worker that dies between two invocations is not used again', async () => {
  probe('dies-later');
  const before = (await ask('dies-later', { do: 'instance' })) as { instance: string };
  await ask('dies-later', { do: 'dieLater' });
  await until(() => /ERROR between invocations .*exit status 3/.test(world.log('dies-later')));
  const after = (await ask('dies-later', { do: 'instance' })) as { instance: string };
  expect(after).toMatchObject({ invocations: 1 });
  expect(after.instance).not.toBe(before.instance);
});

test('initialization that throws fails the invocation each time', async () => {
  probe('broken', { name: 'broken', codeDir: fixture('broken-init') });
  for (let attempt = 0; attempt < 2; attempt++) {
    const failure = { ok: false, errorType: 'SyntaxError', errorMessage: 'initialization failed' };
    expect(await functions.invoke('broken', json({}))).toMatchObject(failure);
  }
});

test.each([
  ['nowhere.handler', 'probe', 'Runtime.ImportModuleError'],
  ['index.nobody', 'probe', 'Runtime.HandlerNotFound'],
  ['index.handler', 'callback', 'Runtime.CallbackHandlerDeprecated'],
])('the handler %s of %s fails with %s', async (handler, code, errorType) => {
  const name = `bad-${errorType.replace('.', '-')}`;
  probe(name, { name, handler, codeDir: fixture(code) });
  expect(await functions.invoke(name, json({}))).toMatchObject({ ok: false, errorType });
});

test('variables no worker thread can have fail the invocation', async () => {
  probe('bad-options', { name: 'bad-options', environment: { NODE_OPTIONS: '--title=x' } });
  expect(await functions.invoke('bad-options', json({ do: 'echo' }))).toMatchObject({
    ok: false,
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringContaining('--title'),
  });
});

test('workers are reused while warm, at most four run at once, and the rest wait their turn', async () => {
  probe('busy');
  const answers = await Promise.all(Array.from({ length: 9 }, () => ask('busy', { do: 'sleep', ms: 50 })));
  const instances = new Set(answers.map((answer) => (answer as { instance: string }).instance));
  expect(instances.size).toBe(4);
  const { instance } = (await ask('busy', { do: 'instance' })) as { instance: string };
  expect(instances).toContain(instance);
});

test('one invocation more than reserved is throttled, and none is let through when zero are', async () => {
  probe('reserved', { name: 'reserved', reservedConcurrency: 2 });
  const running = [1, 2].map(() => ask('reserved', { do: 'sleep', ms: 100 }));
  const throttled = { code: 'TooManyRequestsException', status: 429 };
  await expect(functions.invoke('reserved', json({ do: 'echo' }))).rejects.toMatchObject(throttled);
  await Promise.all(running);
  expect(await ask('reserved', { do: 'echo' })).toEqual({ do: 'echo' });
  probe('none', { name: 'none', reservedConcurrency: 0 });
  await expect(functions.invoke('none', json({ do: 'echo' }))).rejects.toMatchObject(throttled);
});

test('new code serves what comes after it, while what runs finishes on the old', async () => {
  probe('versions', { name: 'versions', codeDir: fixture('version-a') });
  const running = Array.from({ length: 4 }, () => ask('versions', { ms: 1000 }));
  const waiting = ask('versions', {});
  probe('versions', { name: 'versions', codeDir: fixture('version-b') });
  const finished = Promise.race(running).then(() => 'the old code is through');
  expect(await Promise.race([waiting, finished])).toBe('b');
  expect(await ask('versions', {})).toBe('b');
  expect(await Promise.all(running)).toEqual(['a', 'a', 'a', 'a']);
  expect(await ask('versions', {})).toBe('b');
});

test('putting the same specification again keeps the workers warm', async () => {
  probe('same');
  const before = await ask('same', { do: 'instance' });
  probe('same');
  expect(await ask('same', { do: 'instance' })).toEqual({ ...(before as object), invocations: 2 });
});

test('idle workers are ended', async () => {
  const impatient = world.functions({ workerIdleMs: 20 });
  impatient.put(functionSpec({ name: 'idle' }));
  const first = (await ask('idle', { do: 'instance' }, impatient)) as { instance: string };
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await ask('idle', { do: 'instance' }, impatient)).not.toMatchObject({ instance: first.instance });
});

test('a removed function is gone, and what it was doing finishes', async () => {
  const few = world.functions();
  few.put(functionSpec({ name: 'kept' }));
  few.put(functionSpec({ name: 'removed' }));
  const running = ask('removed', { do: 'sleep', ms: 100 }, few);
  few.keepOnly(new Set(['kept']));
  await expect(few.invoke('removed', json({}))).rejects.toMatchObject({ code: 'ResourceNotFoundException' });
  expect(await running).toMatchObject({ invocations: 1 });
  expect(few.get('kept')).toBeDefined();
  expect(few.get('removed')).toBeUndefined();
});

test('payloads that are too large or no JSON are refused before the function sees them', async () => {
  probe('limits');
  const large = (bytes: number) => Buffer.from(JSON.stringify('x'.repeat(bytes)));
  await expect(functions.invoke('limits', large(6 * 1024 * 1024))).rejects.toMatchObject({ status: 413 });
  expect(() => functions.invokeAsync('limits', large(1024 * 1024))).toThrow(
    /must be smaller than 1048576 bytes/,
  );
  await expect(functions.invoke('limits', Buffer.from('{'))).rejects.toMatchObject({
    code: 'InvalidRequestContentException',
  });
  expect(await functions.invoke('limits', json({ do: 'answer', bytes: 6 * 1024 * 1024 }))).toMatchObject({
    ok: false,
    errorType: 'Function.ResponseSizeTooLarge',
  });
});

test('the log has what the function wrote between START and END, and a REPORT with the durations', async () => {
  probe('speaks');
  await ask('speaks', { do: 'speak' });
  await ask('speaks', { do: 'throw' });
  const lines = world.log('speaks').trimEnd().split('\n');
  expect(
    lines.map((line) =>
      line.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>').replaceAll(/\d+(\.\d+)? ms/g, 'N ms'),
    ),
  ).toEqual([
    'START RequestId: <id> Version: $LATEST',
    'to stdout',
    'to stderr',
    'END RequestId: <id>',
    'REPORT RequestId: <id>\tDuration: N ms\tBilled Duration: N ms\tMemory Size: 128 MB\tInit Duration: N ms',
    'START RequestId: <id> Version: $LATEST',
    expect.stringMatching(/^ERROR RequestId: <id> \{"errorType":"RangeError"/),
    'END RequestId: <id>',
    'REPORT RequestId: <id>\tDuration: N ms\tBilled Duration: N ms\tMemory Size: 128 MB',
  ]);
});

test('a log that cannot be written costs its lines, not the invocation', async () => {
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    mkdirSync(join(world.logDir, 'unloggable.log'), { recursive: true });
    probe('unloggable');
    expect(await ask('unloggable', { do: 'speak' })).toBeNull();
    expect(await ask('unloggable', { do: 'echo' })).toEqual({ do: 'echo' });
    const told = output.mock.calls.filter(([text]) =>
      String(text).includes("unloggable.log can't be written"),
    );
    expect(told).toHaveLength(1);
  } finally {
    output.mockRestore();
  }
});
