import { setTimeout as wait } from 'node:timers/promises';
import { SendTaskHeartbeatCommand, SendTaskSuccessCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, test as base } from 'vitest';
import { until } from '../../until.ts';
import {
  awaitToken,
  errorNamed,
  functionArn,
  invoke,
  openStepFunctionsWorld,
  type StepFunctionsWorld,
} from './step-functions-world.ts';

/** Each test has a world of its own to kill, so they can run side by side. */
const test = base.extend<{ world: StepFunctionsWorld }>({
  world: async ({}, use) => {
    const world = await openStepFunctionsWorld();
    await use(world);
    await world.close();
  },
});

const succeed = (world: StepFunctionsWorld, taskToken: string, output: unknown = null) =>
  world.sfn.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) }));

const startWait = (world: StepFunctionsWorld, Seconds: number) =>
  world.start(world.put({ StartAt: 'Wait', States: { Wait: { Type: 'Wait', Seconds, End: true } } }));

/** Functions by these names that count their calls and return their own name. */
function counted(world: StepFunctionsWorld, ...names: string[]): Record<string, number> {
  const calls = Object.fromEntries(names.map((name) => [name, 0]));
  for (const name of names) {
    world.functions[name] = () => {
      calls[name] = (calls[name] ?? 0) + 1;
      return name;
    };
  }
  return calls;
}

/** A function that hangs the first time and answers afterwards, as one does whose caller died. */
function hangsOnce(world: StepFunctionsWorld, name: string, answer: unknown): { calls: unknown[] } {
  const seen: { calls: unknown[] } = { calls: [] };
  world.functions[name] = (input: unknown) => {
    seen.calls.push(input);
    return seen.calls.length === 1 ? new Promise(() => undefined) : answer;
  };
  return seen;
}

describe.concurrent('after a crash', () => {
  test('a task under way is called again with the very same input; those before it are not', async ({
    world,
  }) => {
    const calls = counted(world, 'before', 'after');
    const hanging = hangsOnce(world, 'during', 'during');
    const machine = world.put({
      StartAt: 'Before',
      States: {
        Before: invoke('before', { Next: 'During' }),
        During: {
          Type: 'Task',
          Resource: 'arn:aws:states:::lambda:invoke',
          Parameters: {
            FunctionName: functionArn('during'),
            Payload: { 'key.$': 'States.UUID()', 'entered.$': '$$.State.EnteredTime' },
          },
          Next: 'After',
        },
        After: invoke('after'),
      },
    });
    const arn = await world.start(machine);
    await until(() => hanging.calls.length === 1, 'the task to be called');
    await world.crash();
    expect(await world.end(arn)).toMatchObject({ status: 'SUCCEEDED', result: 'after' });
    expect(calls).toEqual({ before: 1, after: 1 });
    expect(hanging.calls).toHaveLength(2);
    expect(hanging.calls[1]).toEqual(hanging.calls[0]);
    const entered = (await world.history(arn)).flatMap(
      ({ stateEnteredEventDetails: details }) => details?.name ?? [],
    );
    expect(entered).toEqual(['Before', 'During', 'After']);
  });

  test('a token given out before the crash is good after it, and is not given out again', async ({
    world,
  }) => {
    const tokens: string[] = [];
    world.functions['receive'] = ({ token }: { token: string }) => void tokens.push(token);
    const arn = await world.start(world.put({ StartAt: 'Await', States: { Await: awaitToken('receive') } }));
    await until(
      async () => (await world.history(arn)).some(({ type }) => type === 'TaskSubmitted'),
      'the token to be sent',
    );
    await world.crash();
    expect((await world.describe(arn)).status).toBe('RUNNING');
    await succeed(world, tokens[0] ?? '', 'answered');
    expect((await world.end(arn)).result).toBe('answered');
    expect(tokens).toHaveLength(1);
  });

  test('an answer given in the instant of the crash counts, however late the restart', async ({ world }) => {
    const tokens: string[] = [];
    world.functions['receive'] = ({ token }: { token: string }) => void tokens.push(token);
    const state = awaitToken('receive', { HeartbeatSeconds: 4, TimeoutSeconds: 5, End: true });
    const arn = await world.start(world.put({ StartAt: 'Await', States: { Await: state } }));
    await until(
      async () => (await world.history(arn)).some(({ type }) => type === 'TaskSubmitted'),
      'the token to be sent',
    );
    // The engine has let go already, so this is only written down.
    await world.machines.stop();
    await succeed(world, tokens[0] ?? '', 'just in time');
    await expect(succeed(world, tokens[0] ?? '', 'again')).rejects.toMatchObject({ name: 'TaskTimedOut' });
    await world.crash(() => wait(5100));
    expect((await world.end(arn)).result).toBe('just in time');
  });

  test('a token whose sending was cut short is sent again, the same', async ({ world }) => {
    const hanging = hangsOnce(world, 'receive', null);
    const arn = await world.start(world.put({ StartAt: 'Await', States: { Await: awaitToken('receive') } }));
    await until(() => hanging.calls.length === 1, 'the token to be sent');
    await world.crash();
    await until(() => hanging.calls.length === 2, 'the token to be sent again');
    expect(hanging.calls[1]).toEqual(hanging.calls[0]);
    await succeed(world, (hanging.calls[1] as { token: string }).token, 'once');
    expect((await world.end(arn)).result).toBe('once');
  });

  test('a Wait goes on with the time that remained', async ({ world }) => {
    const arn = await startWait(world, 5);
    await world.crash(() => wait(4000));
    const shorter = await world.end(await startWait(world, 3));
    const ended = await world.end(arn);
    expect(Number(ended.stopDate) - Number(ended.startDate)).toBeGreaterThanOrEqual(5000);
    // Had it begun anew, it would have ended after the shorter one.
    expect(Number(ended.stopDate)).toBeLessThan(Number(shorter.stopDate));
  });

  test('a timeout goes on from the moment the task began', async ({ world }) => {
    world.functions['hangs'] = () => new Promise(() => undefined);
    const arn = await world.start(
      world.put({ StartAt: 'Hang', States: { Hang: invoke('hangs', { TimeoutSeconds: 5, End: true }) } }),
    );
    await world.crash(() => wait(4000));
    const shorter = await world.end(await startWait(world, 3));
    const ended = await world.end(arn);
    expect(ended.error).toBe('States.Timeout');
    expect(Number(ended.stopDate)).toBeLessThan(Number(shorter.stopDate));
  });

  test('a heartbeat missed while the process was down is missed', async ({ world }) => {
    const tokens: string[] = [];
    world.functions['receive'] = ({ token }: { token: string }) => void tokens.push(token);
    const state = awaitToken('receive', { HeartbeatSeconds: 4, End: true });
    const arn = await world.start(world.put({ StartAt: 'Await', States: { Await: state } }));
    await until(() => tokens.length === 1, 'the token');
    await world.sfn.send(new SendTaskHeartbeatCommand({ taskToken: tokens[0] ?? '' }));
    await world.crash(() => wait(4100));
    expect(await world.end(arn)).toMatchObject({ status: 'FAILED', error: 'States.HeartbeatTimeout' });
  });

  test('an execution whose time ran out while the process was down is timed out at once', async ({
    world,
  }) => {
    const hanging = hangsOnce(world, 'hangs', null);
    const machine = world.put({ StartAt: 'Hang', TimeoutSeconds: 4, States: { Hang: invoke('hangs') } });
    const arn = await world.start(machine);
    await until(() => hanging.calls.length === 1, 'the task to be called');
    await world.crash(() => wait(4100));
    expect((await world.end(arn)).status).toBe('TIMED_OUT');
    expect(hanging.calls).toHaveLength(1);
  });

  test('retries used before the crash are not had again, and the pause goes on', async ({ world }) => {
    let calls = 0;
    world.functions['fails'] = () => {
      calls += 1;
      throw errorNamed('Again');
    };
    const retry = {
      Retry: [{ ErrorEquals: ['Again'], IntervalSeconds: 4, MaxAttempts: 1 }],
      End: true,
    };
    const arn = await world.start(world.put({ StartAt: 'Try', States: { Try: invoke('fails', retry) } }));
    await until(
      async () => (await world.history(arn)).some(({ type }) => type === 'TaskFailed'),
      'the first failure',
    );
    await world.crash();
    expect(calls).toBe(1);
    expect(await world.end(arn)).toMatchObject({ status: 'FAILED', error: 'Again' });
    expect(calls).toBe(2);
  });

  test('items of a Map that were done stay done', async ({ world }) => {
    const calls: number[] = [];
    let hangs = true;
    world.functions['item'] = (n: number) => {
      calls.push(n);
      return n === 2 && hangs ? new Promise(() => undefined) : n * 10;
    };
    const processor = { StartAt: 'Item', States: { Item: invoke('item') } };
    const machine = world.put({
      StartAt: 'All',
      States: {
        All: { Type: 'Map', MaxConcurrency: 1, ItemProcessor: processor, ResultPath: '$', End: true },
      },
    });
    const arn = await world.start(machine, [1, 2, 3]);
    await until(() => calls.length === 2, 'the second item');
    await world.crash(() => {
      hangs = false;
    });
    expect((await world.end(arn)).result).toEqual([10, 20, 30]);
    expect(calls).toEqual([1, 2, 2, 3]);
  });

  test('each branch of a Parallel goes on where it stood', async ({ world }) => {
    const calls = counted(world, 'left', 'right');
    const tokens: string[] = [];
    world.functions['receive'] = ({ token }: { token: string }) => void tokens.push(token);
    const machine = world.put({
      StartAt: 'Both',
      States: {
        Both: {
          Type: 'Parallel',
          Branches: [
            { StartAt: 'Left', States: { Left: invoke('left') } },
            {
              StartAt: 'Right',
              States: { Right: invoke('right', { Next: 'Await' }), Await: awaitToken('receive') },
            },
          ],
          End: true,
        },
      },
    });
    const arn = await world.start(machine);
    await until(async () => {
      const types = (await world.history(arn)).map(({ type }) => type);
      return (
        types.includes('TaskSubmitted') && types.filter((type) => type === 'TaskStateExited').length === 2
      );
    }, 'one branch to end and the other to wait');
    await world.crash();
    await succeed(world, tokens[0] ?? '', 'right, too');
    expect((await world.end(arn)).result).toEqual(['left', 'right, too']);
    expect(calls).toEqual({ left: 1, right: 1 });
    expect(tokens).toHaveLength(1);
  });

  test('an execution ends with the definition it started with, though the machine was replaced meanwhile', async ({
    world,
  }) => {
    const calls = counted(world, 'old', 'new');
    const versions = (then: string): object => ({
      StartAt: 'Wait',
      States: { Wait: { Type: 'Wait', Seconds: 3, Next: 'Then' }, Then: invoke(then) },
    });
    const machine = world.put(versions('old'), { name: 'replaced' });
    const arn = await world.start(machine);
    world.put(versions('new'), { name: 'replaced' });
    await world.crash();
    const later = await world.start(machine);
    expect((await world.end(arn)).result).toBe('old');
    expect((await world.end(later)).result).toBe('new');
    expect(calls).toEqual({ old: 1, new: 1 });
  });

  test('ended executions are still told after a restart, and their names stay taken', async ({ world }) => {
    const machine = world.put({ StartAt: 'Pass', States: { Pass: { Type: 'Pass', End: true } } });
    const arn = await world.start(machine, { n: 1 }, 'done');
    await world.end(arn);
    const historyBefore = await world.history(arn);
    await world.crash();
    expect(await world.describe(arn)).toMatchObject({ status: 'SUCCEEDED', output: '{"n":1}' });
    expect(await world.history(arn)).toEqual(historyBefore);
    await expect(world.start(machine, { n: 1 }, 'done')).rejects.toMatchObject({
      name: 'ExecutionAlreadyExists',
    });
  });

  test('a running execution is found again by its name after a restart', async ({ world }) => {
    const machine = world.put({
      StartAt: 'Wait',
      States: { Wait: { Type: 'Wait', Seconds: 60, End: true } },
    });
    const start = new StartExecutionCommand({ stateMachineArn: machine, name: 'one', input: '{}' });
    const first = await world.sfn.send(start);
    await world.crash();
    const second = await world.sfn.send(start);
    expect(second).toMatchObject({ executionArn: first.executionArn, startDate: first.startDate });
  });

  test('a machine that is gone from the template takes its running executions along', async ({ world }) => {
    const machine = world.put({
      StartAt: 'Wait',
      States: { Wait: { Type: 'Wait', Seconds: 60, End: true } },
    });
    const arn = await world.start(machine);
    world.machines.keepOnly(new Set());
    expect(await world.describe(arn)).toMatchObject({
      status: 'ABORTED',
      cause: 'The state machine was deleted.',
    });
    await expect(world.start(machine)).rejects.toMatchObject({ name: 'StateMachineDoesNotExist' });
  });
});
