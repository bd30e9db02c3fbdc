import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
} from '@aws-sdk/client-sfn';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, describe } from 'vitest';
import { until } from '../../until.ts';
import {
  awaitToken,
  errorNamed,
  openStepFunctionsWorld,
  type StepFunctionsWorld,
} from './step-functions-world.ts';

let world: StepFunctionsWorld;
/** What the functions were handed, by the name each test gives. */
const handed = new Map<string, string[]>();

beforeAll(async () => {
  world = await openStepFunctionsWorld();
  world.functions['receive'] = ({ token, input }: { token: string; input: { test: string } }) => {
    handed.set(input.test, [...(handed.get(input.test) ?? []), token]);
  };
});
afterAll(() => world.close());

const tokenOf = (name: string, nth = 0): Promise<string> =>
  until(() => handed.get(name)?.[nth], `token ${nth} of ${name}`);
const succeed = (taskToken: string, output: unknown = null) =>
  world.sfn.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) }));
const fail = (taskToken: string, error?: string, cause?: string) =>
  world.sfn.send(new SendTaskFailureCommand({ taskToken, error, cause }));
const beat = (taskToken: string) => world.sfn.send(new SendTaskHeartbeatCommand({ taskToken }));

const caught = { Type: 'Succeed' };
const awaiting = (rest: object = { End: true }, states: object = {}): object => ({
  StartAt: 'Await',
  States: { Await: awaitToken('receive', rest), ...states },
});

describe.concurrent('a task token', () => {
  test('lets the execution wait, and its success is the result of the task', async () => {
    const arn = await world.start(world.put(awaiting({ ResultPath: '$.answer', End: true })), {
      test: 'success',
    });
    const token = await tokenOf('success');
    await until(
      async () => (await world.history(arn)).some(({ type }) => type === 'TaskSubmitted'),
      'the call to return',
    );
    expect((await world.describe(arn)).status).toBe('RUNNING');
    await succeed(token, { n: 42 });
    const ended = await world.end(arn);
    expect(ended.result).toEqual({ test: 'success', answer: { n: 42 } });
    const types = (await world.history(arn)).map(({ type }) => type);
    expect(types).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      'TaskScheduled',
      'TaskStarted',
      'TaskSubmitted',
      'TaskSucceeded',
      'TaskStateExited',
      'ExecutionSucceeded',
    ]);
  });

  test('answered with a failure gives error and cause to Catch', async () => {
    const machine = world.put(
      awaiting({ Catch: [{ ErrorEquals: ['Refused'], Next: 'Caught' }], Next: 'Caught' }, { Caught: caught }),
    );
    const arn = await world.start(machine, { test: 'failure' });
    await fail(await tokenOf('failure'), 'Refused', 'no room');
    expect((await world.end(arn)).result).toEqual({ Error: 'Refused', Cause: 'no room' });
  });

  test('answered with a failure without a name fails the execution', async () => {
    const arn = await world.start(world.put(awaiting()), { test: 'nameless' });
    await fail(await tokenOf('nameless'));
    expect(await world.end(arn)).toMatchObject({ status: 'FAILED', error: 'States.TaskFailed' });
  });

  test('counts once: every later answer or heartbeat is TaskTimedOut', async () => {
    const arn = await world.start(world.put(awaiting()), { test: 'twice' });
    const token = await tokenOf('twice');
    await succeed(token, 'first');
    for (const late of [() => succeed(token, 'second'), () => fail(token, 'Second'), () => beat(token)]) {
      await expect(late()).rejects.toMatchObject({ name: 'TaskTimedOut' });
    }
    expect((await world.end(arn)).result).toBe('first');
    await expect(succeed(token, 'third')).rejects.toMatchObject({ name: 'TaskTimedOut' });
  });

  test('that nobody gave out is InvalidToken, and output that is no JSON InvalidOutput', async () => {
    await expect(succeed('made-up')).rejects.toMatchObject({ name: 'InvalidToken' });
    await expect(beat('made-up')).rejects.toMatchObject({ name: 'InvalidToken' });
    const arn = await world.start(world.put(awaiting()), { test: 'no json' });
    const taskToken = await tokenOf('no json');
    const wrong = world.sfn.send(new SendTaskSuccessCommand({ taskToken, output: '{' }));
    await expect(wrong).rejects.toMatchObject({ name: 'InvalidOutput' });
    await succeed(taskToken);
    expect((await world.end(arn)).status).toBe('SUCCEEDED');
  });

  test('of a machine that is not here is TaskDoesNotExist', async () => {
    const elsewhere = ['arn:aws:states:us-east-1:000000000000:stateMachine:elsewhere', 'id'];
    const token = Buffer.from(JSON.stringify(elsewhere)).toString('base64url');
    await expect(succeed(token)).rejects.toMatchObject({ name: 'TaskDoesNotExist' });
  });

  test('may be answered before the call that handed it out has returned', async () => {
    const gate = Promise.withResolvers<void>();
    let isReturning = false;
    world.functions['answers-first'] = async ({ token }: { token: string }) => {
      await succeed(token, { test: 'after early' });
      await gate.promise;
      isReturning = true;
    };
    const states = { Early: awaitToken('answers-first', { Next: 'Then' }), Then: awaitToken('receive') };
    const arn = await world.start(world.put({ StartAt: 'Early', States: states }));
    const next = await tokenOf('after early');
    gate.resolve();
    await until(() => isReturning, 'the first call to return');
    // By the time another execution has made a call and ended, the late return has been dealt with.
    const other = await world.start(world.put(awaiting()), { test: 'other' });
    await succeed(await tokenOf('other'));
    await world.end(other);
    await succeed(next, 'done');
    expect((await world.end(arn)).result).toBe('done');
    const types = (await world.history(arn)).map(({ type }) => type);
    expect(types.filter((type) => type === 'TaskSubmitted')).toHaveLength(1);
  });

  test('is not waited for when it could not be handed out', async () => {
    world.functions['drops'] = () => {
      throw errorNamed('Dropped');
    };
    const arn = await world.start(world.put({ StartAt: 'Await', States: { Await: awaitToken('drops') } }));
    expect(await world.end(arn)).toMatchObject({ status: 'FAILED', error: 'Dropped' });
  });

  test('not answered in time fails with States.Timeout and is spent', async () => {
    const arn = await world.start(world.put(awaiting({ TimeoutSeconds: 1, End: true })), { test: 'timeout' });
    const token = await tokenOf('timeout');
    expect(await world.end(arn)).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    await expect(succeed(token)).rejects.toMatchObject({ name: 'TaskTimedOut' });
  });

  test('is spent as soon as its task has timed out, though the execution goes on', async () => {
    const states = { Later: { Type: 'Wait', Seconds: 60, End: true } };
    const rest = {
      TimeoutSeconds: 1,
      Catch: [{ ErrorEquals: ['States.Timeout'], Next: 'Later' }],
      Next: 'Later',
    };
    const arn = await world.start(world.put(awaiting(rest, states)), { test: 'too late' });
    const token = await tokenOf('too late');
    await until(
      async () => (await world.history(arn)).some(({ type }) => type === 'WaitStateEntered'),
      'the execution to go on',
    );
    await expect(succeed(token)).rejects.toMatchObject({ name: 'TaskTimedOut' });
    expect((await world.describe(arn)).status).toBe('RUNNING');
  });

  test('that misses a heartbeat fails with States.HeartbeatTimeout, which States.Timeout catches', async () => {
    const machine = world.put(
      awaiting(
        {
          HeartbeatSeconds: 1,
          TimeoutSeconds: 60,
          Catch: [{ ErrorEquals: ['States.Timeout'], Next: 'Caught' }],
          Next: 'Caught',
        },
        { Caught: caught },
      ),
    );
    const arn = await world.start(machine, { test: 'silent' });
    await tokenOf('silent');
    expect((await world.end(arn)).result).toMatchObject({ Error: 'States.HeartbeatTimeout' });
    expect((await world.history(arn)).map(({ type }) => type)).toContain('TaskTimedOut');
  });

  test('is a new one for each retry; the old one is spent', async () => {
    const retry = { Retry: [{ ErrorEquals: ['Again'], IntervalSeconds: 1, MaxAttempts: 1 }], End: true };
    const arn = await world.start(world.put(awaiting(retry)), { test: 'retried' });
    const first = await tokenOf('retried');
    await fail(first, 'Again');
    const second = await tokenOf('retried', 1);
    expect(second).not.toBe(first);
    await expect(succeed(first, 'old')).rejects.toMatchObject({ name: 'TaskTimedOut' });
    await succeed(second, 'new');
    expect((await world.end(arn)).result).toBe('new');
  });

  test('is each item’s own inside a Map, whatever the order of answers', async () => {
    const processor = { StartAt: 'Each', States: { Each: awaitToken('receive') } };
    const machine = world.put({
      StartAt: 'All',
      States: { All: { Type: 'Map', ItemProcessor: processor, End: true } },
    });
    const arn = await world.start(machine, [{ test: 'item a' }, { test: 'item b' }]);
    const [a, b] = await Promise.all([tokenOf('item a'), tokenOf('item b')]);
    expect(a).not.toBe(b);
    await succeed(b, 'B');
    await succeed(a, 'A');
    expect((await world.end(arn)).result).toEqual(['A', 'B']);
  });

  test('of a branch called off by a failure next to it is spent', async () => {
    const machine = world.put({
      StartAt: 'Both',
      States: {
        Both: {
          Type: 'Parallel',
          Branches: [
            {
              StartAt: 'One',
              States: {
                One: awaitToken('receive', {
                  Parameters: {
                    FunctionName: 'receive',
                    Payload: { 'token.$': '$$.Task.Token', input: { test: 'one' } },
                  },
                  End: true,
                }),
              },
            },
            {
              StartAt: 'Two',
              States: {
                Two: awaitToken('receive', {
                  Parameters: {
                    FunctionName: 'receive',
                    Payload: { 'token.$': '$$.Task.Token', input: { test: 'two' } },
                  },
                  End: true,
                }),
              },
            },
          ],
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }],
          Next: 'Caught',
        },
        Caught: caught,
      },
    });
    const arn = await world.start(machine);
    const [one, two] = await Promise.all([tokenOf('one'), tokenOf('two')]);
    await fail(one, 'Snap');
    expect((await world.end(arn)).result).toMatchObject({ Error: 'Snap' });
    await expect(succeed(two)).rejects.toMatchObject({ name: 'TaskTimedOut' });
  });
});

// Alone, so that nothing else keeps it from sending a heartbeat in time.
test('a task token is kept alive by heartbeats beyond HeartbeatSeconds', async () => {
  const arn = await world.start(world.put(awaiting({ HeartbeatSecondsPath: '$.beat', End: true })), {
    test: 'alive',
    beat: 3,
  });
  const token = await tokenOf('alive');
  const beginMs = Date.now();
  while (Date.now() - beginMs < 4000) {
    await beat(token);
    await wait(300);
  }
  await succeed(token, 'still here');
  expect((await world.end(arn)).result).toBe('still here');
});
