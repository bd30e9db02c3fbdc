import {
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
  StopExecutionCommand,
  DescribeExecutionCommand,
  type ExecutionListItem,
} from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { signRequest } from '../services/sign-request.ts';
import {
  awaitToken,
  functionArn,
  invoke,
  openStepFunctionsWorld,
  type StepFunctionsWorld,
} from './step-functions-world.ts';

let world: StepFunctionsWorld;
let passArn: string;
let waitArn: string;

beforeAll(async () => {
  world = await openStepFunctionsWorld();
  passArn = world.put({ StartAt: 'Pass', States: { Pass: { Type: 'Pass', End: true } } }, { name: 'pass' });
  waitArn = world.put(
    { StartAt: 'Wait', States: { Wait: { Type: 'Wait', Seconds: 3600, End: true } } },
    { name: 'wait' },
  );
});
afterAll(() => world.close());

test.each(['RedriveExecution', 'constructor', '__proto__', ''])(
  'the operation %j, which is not served, is refused',
  async (operation) => {
    const headers = {
      'x-amz-target': `AWSStepFunctions.${operation}`,
      'content-type': 'application/x-amz-json-1.0',
    };
    const call = { service: 'states', method: 'POST', path: '/', headers, body: Buffer.from('{}') };
    const answer = await signRequest({ url: world.endpoint, principals: world.principals }, call);
    expect(await answer.json()).toMatchObject({ __type: 'UnknownOperationException' });
  },
);

describe('StartExecution', () => {
  test('runs the machine and DescribeExecution tells the whole of it', async () => {
    const arn = await world.start(passArn, { a: 1 }, 'first');
    expect(arn).toBe('arn:aws:states:us-east-1:000000000000:execution:pass:first');
    const ended = await world.end(arn);
    expect(ended).toMatchObject({
      executionArn: arn,
      stateMachineArn: passArn,
      name: 'first',
      status: 'SUCCEEDED',
      input: '{"a":1}',
      output: '{"a":1}',
    });
    expect(ended.startDate?.getTime()).toBeGreaterThan(Date.now() - 60_000);
    expect(ended.stopDate?.getTime()).toBeGreaterThanOrEqual(ended.startDate?.getTime() ?? Infinity);
    expect(ended.error).toBeUndefined();
  });

  test('without name or input makes up a name and starts with an empty object', async () => {
    const { executionArn = '' } = await world.sfn.send(
      new StartExecutionCommand({ stateMachineArn: passArn }),
    );
    const ended = await world.end(executionArn);
    expect(ended.name).toMatch(/^[0-9a-f-]{36}$/);
    expect(ended.input).toBe('{}');
  });

  test('a second start with the same name and input returns the first execution while it runs', async () => {
    const first = await world.sfn.send(
      new StartExecutionCommand({ stateMachineArn: waitArn, name: 'twice', input: '{"n":1}' }),
    );
    const second = await world.sfn.send(
      new StartExecutionCommand({ stateMachineArn: waitArn, name: 'twice', input: '{"n":1}' }),
    );
    expect(second.executionArn).toBe(first.executionArn);
    expect(second.startDate).toEqual(first.startDate);
    const { executions } = await world.sfn.send(new ListExecutionsCommand({ stateMachineArn: waitArn }));
    expect(executions?.filter(({ name }) => name === 'twice')).toHaveLength(1);
  });

  test('a name in use with another input is refused', async () => {
    await world.start(waitArn, { n: 1 }, 'taken');
    await expect(world.start(waitArn, { n: 2 }, 'taken')).rejects.toMatchObject({
      name: 'ExecutionAlreadyExists',
    });
  });

  test('the name of an ended execution is refused, also with the same input', async () => {
    await world.end(await world.start(passArn, { n: 1 }, 'ended'));
    await expect(world.start(passArn, { n: 1 }, 'ended')).rejects.toMatchObject({
      name: 'ExecutionAlreadyExists',
    });
  });

  test.each([
    [
      'an unknown machine',
      { stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:no' },
      'StateMachineDoesNotExist',
    ],
    ['what is no machine ARN', { stateMachineArn: 'nonsense' }, 'InvalidArn'],
    ['input that is no JSON', { input: '{' }, 'InvalidExecutionInput'],
    ['a name with a space', { name: 'a b' }, 'InvalidName'],
    ['a name of 81 characters', { name: 'x'.repeat(81) }, 'InvalidName'],
    ['an empty name', { name: '' }, 'InvalidName'],
    ['input over 256 KiB', { input: JSON.stringify('x'.repeat(262_144)) }, 'ValidationException'],
  ])('%s is refused', async (_what, wrong, name) => {
    const command = new StartExecutionCommand({ stateMachineArn: passArn, ...wrong });
    await expect(world.sfn.send(command)).rejects.toMatchObject({ name });
  });
});

describe('StopExecution', () => {
  test('aborts with the reason given, and does so once', async () => {
    const arn = await world.start(waitArn);
    const stop = new StopExecutionCommand({ executionArn: arn, error: 'Cancelled', cause: 'by hand' });
    const first = await world.sfn.send(stop);
    expect(await world.describe(arn)).toMatchObject({
      status: 'ABORTED',
      error: 'Cancelled',
      cause: 'by hand',
    });
    const second = await world.sfn.send(stop);
    expect(second.stopDate).toEqual(first.stopDate);
    const types = (await world.history(arn)).map(({ type }) => type);
    expect(types).toEqual(['ExecutionStarted', 'WaitStateEntered', 'ExecutionAborted']);
  });

  test('what a task returns after the stop changes nothing', async () => {
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    world.functions['slow'] = async () => {
      calls += 1;
      await gate.promise;
      return 'late';
    };
    const machine = world.put({
      StartAt: 'Slow',
      States: { Slow: invoke('slow', { Next: 'After' }), After: invoke('slow') },
    });
    const arn = await world.start(machine);
    await until(() => calls === 1, 'the task to be called');
    await world.sfn.send(new StopExecutionCommand({ executionArn: arn }));
    gate.resolve();
    await world.end(await world.start(passArn));
    expect(await world.describe(arn)).toMatchObject({ status: 'ABORTED' });
    expect(calls).toBe(1);
  });
});

describe('lists', () => {
  test('executions come newest first, page by page, and filtered by status', async () => {
    const machine = world.put({ StartAt: 'Pass', States: { Pass: { Type: 'Pass', End: true } } });
    const arns: string[] = [];
    for (let i = 0; i < 5; i++) arns.push(await world.start(machine, { i }, `e${i}`));
    for (const arn of arns) await world.end(arn);
    const seen: ExecutionListItem[] = [];
    let nextToken: string | undefined;
    do {
      const page = await world.sfn.send(
        new ListExecutionsCommand({ stateMachineArn: machine, maxResults: 2, nextToken }),
      );
      expect(page.executions?.length).toBeLessThanOrEqual(2);
      seen.push(...(page.executions ?? []));
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    expect(new Set(seen.map(({ name }) => name))).toEqual(new Set(['e0', 'e1', 'e2', 'e3', 'e4']));
    expect(seen).toHaveLength(5);
    const starts = seen.map(({ startDate }) => startDate?.getTime() ?? 0);
    expect(starts).toEqual([...starts].sort((a, b) => b - a));
    const filtered = (statusFilter: 'RUNNING' | 'SUCCEEDED') =>
      world.sfn.send(new ListExecutionsCommand({ stateMachineArn: machine, statusFilter }));
    expect((await filtered('RUNNING')).executions).toEqual([]);
    expect((await filtered('SUCCEEDED')).executions).toHaveLength(5);
  });

  test('a list of an unknown machine, or with a made-up page, is refused', async () => {
    const unknown = new ListExecutionsCommand({
      stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:no',
    });
    await expect(world.sfn.send(unknown)).rejects.toMatchObject({ name: 'StateMachineDoesNotExist' });
    const madeUp = new ListExecutionsCommand({ stateMachineArn: passArn, nextToken: 'bm9uc2Vuc2U' });
    await expect(world.sfn.send(madeUp)).rejects.toMatchObject({ name: 'InvalidToken' });
  });

  test('machines are listed by name and described with their definition', async () => {
    const names: (string | undefined)[] = [];
    let nextToken: string | undefined;
    do {
      const page = await world.sfn.send(new ListStateMachinesCommand({ maxResults: 1, nextToken }));
      names.push(...(page.stateMachines ?? []).map(({ name }) => name));
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    expect(names).toContain('pass');
    expect(names).toContain('wait');
    expect(names.indexOf('pass')).toBeLessThan(names.indexOf('wait'));
    const described = await world.sfn.send(new DescribeStateMachineCommand({ stateMachineArn: passArn }));
    expect(described).toMatchObject({ name: 'pass', status: 'ACTIVE', type: 'STANDARD' });
    expect(JSON.parse(described.definition ?? '')).toEqual({
      StartAt: 'Pass',
      States: { Pass: { Type: 'Pass', End: true } },
    });
  });

  test('an unknown execution is refused wherever it is named', async () => {
    const executionArn = 'arn:aws:states:us-east-1:000000000000:execution:pass:never';
    for (const command of [
      new DescribeExecutionCommand({ executionArn }),
      new StopExecutionCommand({ executionArn }),
      new GetExecutionHistoryCommand({ executionArn }),
    ]) {
      await expect(world.sfn.send(command as DescribeExecutionCommand)).rejects.toMatchObject({
        name: 'ExecutionDoesNotExist',
      });
    }
    const wrong = new DescribeExecutionCommand({ executionArn: passArn });
    await expect(world.sfn.send(wrong)).rejects.toMatchObject({ name: 'InvalidArn' });
  });
});

describe('GetExecutionHistory', () => {
  test('tells a task the way AWS does: ids from 1, each with the event before it', async () => {
    world.functions['greet'] = ({ who }: { who: string }) => `Hello ${who}`;
    const machine = world.put({
      StartAt: 'Greet',
      States: { Greet: invoke('greet', { TimeoutSeconds: 5, End: true }) },
    });
    const arn = await world.start(machine, { who: 'world' });
    await world.end(arn);
    const events = await world.history(arn);
    expect(events.map(({ type, id, previousEventId }) => [id, previousEventId, type])).toEqual([
      [1, 0, 'ExecutionStarted'],
      [2, 0, 'TaskStateEntered'],
      [3, 2, 'TaskScheduled'],
      [4, 3, 'TaskStarted'],
      [5, 4, 'TaskSucceeded'],
      [6, 5, 'TaskStateExited'],
      [7, 6, 'ExecutionSucceeded'],
    ]);
    expect(events[1]?.stateEnteredEventDetails).toMatchObject({ name: 'Greet', input: '{"who":"world"}' });
    expect(events[2]?.taskScheduledEventDetails).toMatchObject({
      resourceType: 'lambda',
      resource: 'invoke',
      region: 'us-east-1',
      timeoutInSeconds: 5,
      parameters: JSON.stringify({ FunctionName: functionArn('greet'), Payload: { who: 'world' } }),
    });
    expect(JSON.parse(events[4]?.taskSucceededEventDetails?.output ?? '')).toEqual({
      ExecutedVersion: '$LATEST',
      Payload: 'Hello world',
      StatusCode: 200,
    });
    expect(events[5]?.stateExitedEventDetails).toMatchObject({ name: 'Greet', output: '"Hello world"' });
    expect(events[6]?.executionSucceededEventDetails?.output).toBe('"Hello world"');
    expect(events.every(({ timestamp }) => timestamp instanceof Date)).toBe(true);
  });

  test('pages forwards and backwards, and leaves data out when asked to', async () => {
    const arn = await world.start(passArn, { secret: 'x' });
    await world.end(arn);
    const read = async (reverseOrder: boolean): Promise<(number | undefined)[]> => {
      const ids: (number | undefined)[] = [];
      let nextToken: string | undefined;
      do {
        const page = await world.sfn.send(
          new GetExecutionHistoryCommand({ executionArn: arn, maxResults: 3, reverseOrder, nextToken }),
        );
        ids.push(...(page.events ?? []).map(({ id }) => id));
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
      return ids;
    };
    expect(await read(false)).toEqual([1, 2, 3, 4]);
    expect(await read(true)).toEqual([4, 3, 2, 1]);
    const bare = await world.sfn.send(
      new GetExecutionHistoryCommand({ executionArn: arn, includeExecutionData: false }),
    );
    expect(bare.events).toHaveLength(4);
    expect(JSON.stringify(bare.events)).not.toContain('secret');
  });

  test('a machine that loops for ever is ended at 25,000 events, and keeps nobody else waiting', async () => {
    const machine = world.put({
      StartAt: 'Turn',
      States: {
        Turn: {
          Type: 'Choice',
          Choices: [{ Variable: '$.never', IsPresent: true, Next: 'Out' }],
          Default: 'Turn',
        },
        Out: { Type: 'Succeed' },
      },
    });
    const arn = await world.start(machine);
    expect((await world.describe(arn)).status).toBe('RUNNING');
    expect(await world.end(arn)).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause: 'The execution reached the maximum number of history events (25000).',
    });
  });
});

describe('IAM', () => {
  test('a role may start only the machine it was granted', async () => {
    const grants = [{ Effect: 'Allow', Action: 'states:StartExecution', Resource: passArn }];
    const caller = world.client(world.principals.session(world.role(grants), 'caller'));
    await caller.send(new StartExecutionCommand({ stateMachineArn: passArn }));
    const denied = caller.send(new StartExecutionCommand({ stateMachineArn: waitArn }));
    await expect(denied).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringMatching(/states:StartExecution on resource: .*stateMachine:wait /),
    });
  });

  test('describing needs a grant on the execution', async () => {
    const arn = await world.start(waitArn);
    const grants = [{ Effect: 'Allow', Action: 'states:DescribeExecution', Resource: arn }];
    const caller = world.client(world.principals.session(world.role(grants), 'caller'));
    expect((await caller.send(new DescribeExecutionCommand({ executionArn: arn }))).status).toBe('RUNNING');
    const other = await world.start(passArn);
    await expect(caller.send(new DescribeExecutionCommand({ executionArn: other }))).rejects.toMatchObject({
      name: 'AccessDeniedException',
    });
  });

  test('answering a token needs a grant on the machine that gave it out', async () => {
    let token = '';
    world.functions['keep-token'] = (input: { token: string }) => void (token = input.token);
    const machine = world.put({ StartAt: 'Await', States: { Await: awaitToken('keep-token') } });
    const arn = await world.start(machine);
    await until(() => token !== '', 'the token');
    const sender = (resource: string) => {
      const grants = [
        {
          Effect: 'Allow',
          Action: ['states:SendTaskSuccess', 'states:SendTaskHeartbeat'],
          Resource: resource,
        },
      ];
      return world.client(world.principals.session(world.role(grants), 'caller'));
    };
    const answer = new SendTaskSuccessCommand({ taskToken: token, output: '1' });
    await expect(sender(passArn).send(answer)).rejects.toMatchObject({ name: 'AccessDeniedException' });
    const unknown = new SendTaskHeartbeatCommand({ taskToken: 'unknown' });
    await expect(sender(machine).send(unknown)).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining('stateMachine:unknown'),
    });
    await sender(machine).send(answer);
    expect((await world.end(arn)).status).toBe('SUCCEEDED');
  });
});
