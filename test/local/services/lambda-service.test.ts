import {
  InvokeCommand,
  LambdaClient,
  ListFunctionsCommand,
  type InvokeCommandInput,
} from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { allow, HostedWorld } from '../lambda/hosted-world.ts';
import { functionSpec, roleArn } from '../lambda/lambda-world.ts';
import { signRequest } from './sign-request.ts';

const world = new HostedWorld();
let client: LambdaClient;
beforeAll(async () => {
  await world.open();
  world.hosted.put(functionSpec({ name: 'target' }));
  world.hosted.put(functionSpec({ name: 'full', reservedConcurrency: 0 }));
  client = new LambdaClient({ ...world.operator(), maxAttempts: 1 });
});
afterAll(() => world.close());

const invoke = (event: object, more: Partial<InvokeCommandInput> = {}, by = client) =>
  by.send(
    new InvokeCommand({ FunctionName: 'target', Payload: Buffer.from(JSON.stringify(event)), ...more }),
  );

test('a synchronous call answers with the payload', async () => {
  const { StatusCode, Payload, ExecutedVersion, FunctionError } = await invoke({ do: 'echo', text: 'grüß' });
  expect({ StatusCode, ExecutedVersion, FunctionError }).toEqual({
    StatusCode: 200,
    ExecutedVersion: '$LATEST',
  });
  expect(JSON.parse(Payload?.transformToString() ?? '')).toEqual({ do: 'echo', text: 'grüß' });
});

test('a call by ARN, and one with log tailing asked for, answer the same', async () => {
  const arn = 'arn:aws:lambda:us-east-1:000000000000:function:target';
  const { Payload } = await invoke({ do: 'echo' }, { FunctionName: arn, LogType: 'Tail' });
  expect(Payload?.transformToString()).toBe('{"do":"echo"}');
});

test("a function's failure is a 200 that says so", async () => {
  const { StatusCode, FunctionError, Payload } = await invoke({ do: 'throw' });
  expect({ StatusCode, FunctionError }).toEqual({ StatusCode: 200, FunctionError: 'Unhandled' });
  expect(JSON.parse(Payload?.transformToString() ?? '')).toMatchObject({ errorType: 'RangeError' });
});

test('an event is accepted at once and runs afterwards', async () => {
  const { spec, invocations } = world.recorder('listener');
  const { StatusCode } = await invoke({ n: 1 }, { FunctionName: spec.name, InvocationType: 'Event' });
  expect(StatusCode).toBe(202);
  await until(() => invocations().length === 1);
  expect(invocations()[0]?.event).toEqual({ n: 1 });
});

test('a dry run runs nothing', async () => {
  const { spec, invocations } = world.recorder('dry');
  const { StatusCode } = await invoke({}, { FunctionName: spec.name, InvocationType: 'DryRun' });
  expect(StatusCode).toBe(204);
  expect(invocations()).toEqual([]);
});

test('refusals carry the names the SDK knows', async () => {
  await expect(invoke({}, { FunctionName: 'stranger' })).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  });
  await expect(invoke({}, { FunctionName: 'full' })).rejects.toMatchObject({
    name: 'TooManyRequestsException',
    $metadata: { httpStatusCode: 429 },
  });
  await expect(client.send(new ListFunctionsCommand({}))).rejects.toThrow(/only Invoke/);
});

test('a name that is not percent-encoded is refused, not stumbled over', async () => {
  const path = '/2015-03-31/functions/%zz/invocations';
  const call = { service: 'lambda', method: 'POST', path, headers: {}, body: Buffer.from('{}') };
  const answer = await signRequest({ url: world.endpoint, principals: world.principals }, call);
  expect([answer.status, answer.headers.get('x-amzn-errortype')]).toEqual([400, 'ValidationException']);
});

test('a role may invoke only what its policies allow', async () => {
  world.grant(
    'caller',
    allow(['lambda:InvokeFunction'], 'arn:aws:lambda:us-east-1:000000000000:function:target'),
  );
  const caller = new LambdaClient(world.principals.clientConfig(roleArn('caller'), 'test'));
  expect((await invoke({ do: 'echo' }, {}, caller)).StatusCode).toBe(200);
  await expect(invoke({}, { FunctionName: 'full' }, caller)).rejects.toMatchObject({
    name: 'AccessDeniedException',
    message: expect.stringContaining(
      'lambda:InvokeFunction on resource: arn:aws:lambda:us-east-1:000000000000:function:full',
    ),
  });
});
