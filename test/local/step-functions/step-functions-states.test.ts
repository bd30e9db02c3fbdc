import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AwsError } from '../../../lib/local/wire/aws.ts';
import type { Retrier } from '../../../lib/local/step-functions/asl.ts';
import { Failure, planRetry } from '../../../lib/local/step-functions/failure.ts';
import {
  errorNamed,
  functionArn,
  invoke,
  openStepFunctionsWorld,
  type StepFunctionsWorld,
} from './step-functions-world.ts';

let world: StepFunctionsWorld;
beforeAll(async () => {
  world = await openStepFunctionsWorld();
});
afterAll(() => world.close());

/** Runs a definition to its end. */
async function run(definition: object, input: unknown = {}) {
  const arn = await world.start(world.put(definition), input);
  return { arn, ...(await world.end(arn)) };
}
const only = (state: object): object => ({ StartAt: 'Only', States: { Only: { End: true, ...state } } });
const terminal = (state: object): object => ({ StartAt: 'Only', States: { Only: state } });

/** Many small machines as branches of one, each with its own input: validating a definition takes 150 ms. */
async function runEach(cases: { states: Record<string, object>; input: unknown }[]): Promise<unknown[]> {
  const branches = cases.map(({ states }, index) => {
    const rename = (text: string): string => text.replaceAll('@', String(index));
    const [first = ''] = Object.keys(states);
    const renamed = JSON.parse(rename(JSON.stringify(states))) as object;
    const begin = { Type: 'Pass', InputPath: `$.inputs[${index}]`, Next: rename(first) };
    return { StartAt: `Begin${index}`, States: { [`Begin${index}`]: begin, ...renamed } };
  });
  const ended = await run(only({ Type: 'Parallel', Branches: branches }), {
    inputs: cases.map(({ input }) => input),
  });
  return ended.result as unknown[];
}

describe('data flow', () => {
  const rows: [what: string, state: object, input: unknown, output: unknown][] = [
    ['a falsy Result is a result', { Type: 'Pass', Result: false }, { a: 1 }, false],
    ['a Result of null is a result', { Type: 'Pass', Result: null }, { a: 1 }, null],
    ['InputPath null is the empty object', { Type: 'Pass', InputPath: null }, { a: 1 }, {}],
    ['ResultPath null keeps the input', { Type: 'Pass', Result: 1, ResultPath: null }, { a: 1 }, { a: 1 }],
    ['ResultPath $ replaces the input', { Type: 'Pass', Result: 1, ResultPath: '$' }, { a: 1 }, 1],
    [
      'ResultPath adds to the input',
      { Type: 'Pass', Result: 1, ResultPath: '$.b.c' },
      { a: 1 },
      { a: 1, b: { c: 1 } },
    ],
    [
      'ResultPath may use brackets',
      { Type: 'Pass', Result: 1, ResultPath: "$['b']" },
      { a: 1 },
      { a: 1, b: 1 },
    ],
    ['OutputPath selects', { Type: 'Pass', OutputPath: '$.a' }, { a: null }, null],
    ['$ may be null', { Type: 'Pass', Parameters: { 'all.$': '$' } }, null, { all: null }],
    ['$ may be zero', { Type: 'Pass', InputPath: '$', OutputPath: '$' }, 0, 0],
    [
      'a wildcard collects',
      { Type: 'Pass', Parameters: { 'ids.$': '$.items[*].id' } },
      { items: [{ id: 7 }] },
      { ids: [7] },
    ],
    [
      'intrinsic functions nest, and quoted text is left alone',
      {
        Type: 'Pass',
        Parameters: { 'text.$': "States.Format('$$.State.Name of {} is {}', $.n, States.MathAdd($.n, 1))" },
      },
      { n: 1 },
      { text: '$$.State.Name of 1 is 2' },
    ],
  ];
  let outputs: unknown[];
  beforeAll(async () => {
    outputs = await runEach(
      rows.map(([, state, input]) => ({ states: { 'Only@': { ...state, End: true } }, input })),
    );
  });
  test.each(rows.map(([what, , , output], index) => [what, output, index] as const))(
    '%s',
    (_what, output, index) => {
      expect(outputs[index]).toEqual(output);
    },
  );

  test('a Succeed state may select, too', async () => {
    expect((await run(terminal({ Type: 'Succeed', OutputPath: '$.a' }), { a: 2 })).result).toBe(2);
  });

  test('a path that leads nowhere fails the execution and says where', async () => {
    const ended = await run(only({ Type: 'Pass', Parameters: { 'x.$': '$.missing' } }));
    expect(ended).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause:
        "An error occurred while executing the state 'Only' (entered at the event id #2). " +
        "Path expression '$.missing' does not point to a value",
    });
  });

  test('ResultPath on an input that is no object is its own error', async () => {
    const ended = await run(only({ Type: 'Pass', Result: 1, ResultPath: '$.a' }), 'text');
    expect(ended.error).toBe('States.ResultPathMatchFailure');
  });

  test('a state that returns more than 256 KiB fails, and States.ALL does not catch it', async () => {
    world.functions['big'] = () => 'x'.repeat(262_144);
    const caught = { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }], Next: 'Caught' };
    const ended = await run({
      StartAt: 'Big',
      States: { Big: invoke('big', caught), Caught: { Type: 'Succeed' } },
    });
    expect(ended).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' });
  });

  test('the context object tells execution, machine and state', async () => {
    const template = {
      'id.$': '$$.Execution.Id',
      'name.$': '$$.Execution.Name',
      'input.$': '$$.Execution.Input',
      'started.$': '$$.Execution.StartTime',
      'role.$': '$$.Execution.RoleArn',
      'machine.$': '$$.StateMachine.Name',
      'machineId.$': '$$.StateMachine.Id',
      'state.$': '$$.State.Name',
      'entered.$': '$$.State.EnteredTime',
      'retries.$': '$$.State.RetryCount',
    };
    const ended = await run(
      {
        StartAt: 'Other',
        States: {
          Other: { Type: 'Pass', Result: 'replaced', Next: 'Look' },
          Look: { Type: 'Pass', Parameters: template, End: true },
        },
      },
      { given: true },
    );
    const machineName = ended.stateMachineArn?.split(':').at(-1);
    expect(ended.result).toMatchObject({
      id: ended.arn,
      name: ended.name,
      input: { given: true },
      started: ended.startDate?.toISOString(),
      role: expect.stringContaining(':role/'),
      machine: machineName,
      machineId: ended.stateMachineArn,
      state: 'Look',
      retries: 0,
    });
    const { entered } = ended.result as { entered: string };
    expect(Date.parse(entered)).toBeGreaterThanOrEqual(ended.startDate?.getTime() ?? Infinity);
  });
});

describe('Choice', () => {
  const rows: [rule: object, input: unknown, output: 'yes' | 'no'][] = [
    [{ Variable: '$.s', StringEquals: 'a' }, { s: 'a' }, 'yes'],
    [{ Variable: '$.n', NumericGreaterThan: 3 }, { n: 4 }, 'yes'],
    [{ Variable: '$.n', NumericGreaterThan: 3 }, { n: '4' }, 'no'],
    [{ Variable: '$.s', StringMatches: 'a*c?' }, { s: 'abbbc?' }, 'yes'],
    [{ Variable: '$.s', StringMatches: 'a*c?' }, { s: 'abbbcd' }, 'no'],
    [{ Variable: '$.x', IsPresent: false }, {}, 'yes'],
    [{ Variable: '$.x', IsPresent: false }, { x: null }, 'no'],
    [{ Variable: '$.x', IsNull: true }, { x: null }, 'yes'],
    [{ Variable: '$.x', IsString: false }, { x: 1 }, 'yes'],
    [{ Variable: '$.b', BooleanEquals: false }, { b: false }, 'yes'],
    [{ Variable: '$.t', TimestampLessThan: '2030-01-01T00:00:00Z' }, { t: '2029-01-01T00:00:00Z' }, 'yes'],
    [
      { And: [{ Variable: '$.a', BooleanEquals: true }, { Not: { Variable: '$.b', BooleanEquals: true } }] },
      { a: true, b: false },
      'yes',
    ],
    [
      {
        Or: [
          { Variable: '$.a', BooleanEquals: true },
          { Variable: '$.b', BooleanEquals: true },
        ],
      },
      { a: false, b: true },
      'yes',
    ],
    [{ Variable: '$.s', StringEqualsPath: '$$.Execution.Input.inputs[13].s' }, { s: 'same' }, 'yes'],
    [{ Variable: '$$.State.Name', StringEquals: 'Choose14' }, {}, 'yes'],
  ];
  let outputs: unknown[];
  beforeAll(async () => {
    const cases = rows.map(([rule, input]) => ({
      states: {
        'Choose@': { Type: 'Choice', Choices: [{ ...rule, Next: 'Yes@' }], Default: 'No@' },
        'Yes@': { Type: 'Pass', Result: 'yes', End: true },
        'No@': { Type: 'Pass', Result: 'no', End: true },
      },
      input,
    }));
    outputs = await runEach(cases);
  });
  test.each(rows.map(([rule, input, output], index) => [rule, input, output, index] as const))(
    '%j of %j: %s',
    (_rule, _input, output, index) => {
      expect(outputs[index]).toBe(output);
    },
  );

  test('no rule that holds and no Default fails the execution', async () => {
    const ended = await run({
      StartAt: 'Choose',
      States: {
        Choose: { Type: 'Choice', Choices: [{ Variable: '$.a', IsPresent: true, Next: 'End' }] },
        End: { Type: 'Succeed' },
      },
    });
    expect(ended).toMatchObject({ status: 'FAILED', error: 'States.NoChoiceMatched' });
  });
});

describe.concurrent('Wait and Fail', () => {
  test.each<[string, object, () => unknown]>([
    ['Seconds', { Seconds: 1 }, () => ({})],
    ['SecondsPath', { SecondsPath: '$.s' }, () => ({ s: 1 })],
    ['TimestampPath', { TimestampPath: '$.t' }, () => ({ t: new Date(Date.now() + 1000).toISOString() })],
  ])('Wait takes %s', async (_field, fields, input) => {
    const machine = world.put(only({ Type: 'Wait', ...fields }));
    const begunMs = Date.now();
    const ended = await world.end(await world.start(machine, input()));
    expect(ended.status).toBe('SUCCEEDED');
    expect((ended.stopDate?.getTime() ?? 0) - begunMs).toBeGreaterThanOrEqual(999);
  });

  test('a Wait for a moment in the past ends at once', async () => {
    expect((await run(only({ Type: 'Wait', Timestamp: '2001-01-01T00:00:00Z' }))).status).toBe('SUCCEEDED');
  });

  test('a Wait of a year does not end at once', async () => {
    const arn = await world.start(world.put(only({ Type: 'Wait', Seconds: 31_536_000 })));
    await world.end(await world.start(world.put(only({ Type: 'Pass' }))));
    expect((await world.describe(arn)).status).toBe('RUNNING');
  });

  test('Fail ends with its error and cause, also from paths', async () => {
    expect(await run(terminal({ Type: 'Fail', Error: 'Gone', Cause: 'why' }))).toMatchObject({
      status: 'FAILED',
      error: 'Gone',
      cause: 'why',
    });
    const fromPaths = {
      Type: 'Fail',
      ErrorPath: '$.e',
      CausePath: "States.Format('{}!', $.c)",
    };
    expect(await run(terminal(fromPaths), { e: 'Own', c: 'so' })).toMatchObject({
      error: 'Own',
      cause: 'so!',
    });
  });

  test('TimeoutSeconds of the machine ends it as TIMED_OUT, and only the history names the error', async () => {
    const definition = { ...only({ Type: 'Wait', Seconds: 60 }), TimeoutSeconds: 1 };
    const ended = await run(definition);
    expect(ended.status).toBe('TIMED_OUT');
    expect(ended.error).toBeUndefined();
    const last = (await world.history(ended.arn)).at(-1);
    expect(last).toMatchObject({
      type: 'ExecutionTimedOut',
      executionTimedOutEventDetails: { error: 'States.Timeout' },
    });
  });
});

describe.concurrent('Retry and Catch', () => {
  test('a task is retried with growing pauses, then succeeds; RetryCount counts', async () => {
    const seen: { at: number; retry: number }[] = [];
    world.functions['third-time'] = ({ retry }: { retry: number }) => {
      seen.push({ at: Date.now(), retry });
      if (seen.length < 3) throw errorNamed('Flaky');
      return 'done';
    };
    const ended = await run(
      only({
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke',
        Parameters: {
          FunctionName: functionArn('third-time'),
          Payload: { 'retry.$': '$$.State.RetryCount' },
        },
        OutputPath: '$.Payload',
        Retry: [{ ErrorEquals: ['Flaky'], IntervalSeconds: 1, BackoffRate: 1, MaxAttempts: 2 }],
      }),
    );
    expect(ended.result).toBe('done');
    expect(seen.map(({ retry }) => retry)).toEqual([0, 1, 2]);
    expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
    const types = (await world.history(ended.arn)).map(({ type }) => type);
    expect(types.filter((type) => type === 'TaskScheduled')).toHaveLength(3);
    expect(types.filter((type) => type === 'TaskFailed')).toHaveLength(2);
    expect(types.filter((type) => type === 'TaskStateEntered')).toHaveLength(1);
  });

  test('the pauses grow up to MaxDelaySeconds, and jitter only shortens them', () => {
    const pauses = (more: Partial<Retrier> = {}): (number | undefined)[] => {
      const growing = { ErrorEquals: ['Flaky'], IntervalSeconds: 2, BackoffRate: 3, MaxAttempts: 4, ...more };
      const retries = [0, 1, 2, 3, 4].map((used) => planRetry([growing], [used], new Failure('Flaky')));
      return retries.map((retry) => retry?.pauseMs);
    };
    expect(pauses()).toEqual([2000, 6000, 18_000, 54_000, undefined]);
    expect(pauses({ MaxDelaySeconds: 10 })).toEqual([2000, 6000, 10_000, 10_000, undefined]);
    for (const pause of pauses({ MaxDelaySeconds: 10, JitterStrategy: 'FULL' }))
      expect(pause ?? 0).toBeLessThanOrEqual(10_000);
  });

  test('each visit of a state has its retries anew', async () => {
    const rounds: number[] = [];
    world.functions['every-other-time'] = ({ round }: { round: number }) => {
      rounds.push(round);
      if (rounds.length % 2 === 1) throw errorNamed('Odd');
      return { round: round + 1 };
    };
    const retry = [{ ErrorEquals: ['Odd'], IntervalSeconds: 1, MaxAttempts: 1 }];
    const again = [{ Variable: '$.round', NumericLessThan: 2, Next: 'Try' }];
    const ended = await run(
      {
        StartAt: 'Try',
        States: {
          Try: invoke('every-other-time', { Retry: retry, Next: 'Again' }),
          Again: { Type: 'Choice', Choices: again, Default: 'Done' },
          Done: { Type: 'Succeed' },
        },
      },
      { round: 0 },
    );
    expect(ended.status).toBe('SUCCEEDED');
    expect(rounds).toEqual([0, 0, 1, 1]);
  });

  test('when the retries are used up the error is caught, with its name and the payload as cause', async () => {
    let calls = 0;
    world.functions['always'] = () => {
      calls += 1;
      throw errorNamed('Broken', 'by design');
    };
    const ended = await run(
      {
        StartAt: 'Try',
        States: {
          Try: invoke('always', {
            Retry: [
              {
                ErrorEquals: ['States.TaskFailed'],
                IntervalSeconds: 1,
                MaxDelaySeconds: 1,
                JitterStrategy: 'FULL',
                MaxAttempts: 1,
              },
            ],
            Catch: [
              { ErrorEquals: ['Other'], Next: 'Wrong' },
              { ErrorEquals: ['Broken'], ResultPath: '$.problem', Next: 'Caught' },
            ],
            Next: 'Wrong',
          }),
          Caught: { Type: 'Succeed' },
          Wrong: { Type: 'Fail' },
        },
      },
      { kept: true },
    );
    expect(calls).toBe(2);
    expect(ended.result).toEqual({
      kept: true,
      problem: { Error: 'Broken', Cause: '{"errorType":"Broken","errorMessage":"by design"}' },
    });
  });

  test('a task over its time fails with States.Timeout, which States.TaskFailed does not catch', async () => {
    world.functions['hangs'] = () => new Promise(() => undefined);
    const states = (error: string): object => ({
      StartAt: 'Hang',
      States: {
        Hang: invoke('hangs', {
          TimeoutSecondsPath: '$.limit',
          Catch: [{ ErrorEquals: [error], Next: 'Caught' }],
          Next: 'Caught',
        }),
        Caught: { Type: 'Succeed' },
      },
    });
    const [caught, missed] = await Promise.all([
      run(states('States.Timeout'), { limit: 1 }),
      run(states('States.TaskFailed'), { limit: 1 }),
    ]);
    expect(caught.result).toMatchObject({ Error: 'States.Timeout' });
    expect(missed).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    expect((await world.history(missed.arn)).map(({ type }) => type)).toContain('TaskTimedOut');
  });

  test('a throttled function is Lambda.TooManyRequestsException, a missing one Lambda.ResourceNotFoundException', async () => {
    world.functions['throttled'] = () => {
      throw new AwsError('TooManyRequestsException', 'Rate Exceeded.', 429);
    };
    expect((await run(only(invoke('throttled')))).error).toBe('Lambda.TooManyRequestsException');
    expect((await run(only(invoke('nowhere')))).error).toBe('Lambda.ResourceNotFoundException');
  });
});

describe.concurrent('Parallel', () => {
  test('runs its branches at the same time and collects their outputs in order', async () => {
    const together = Promise.withResolvers<void>();
    let arrived = 0;
    world.functions['meet'] = async ({ n }: { n: number }) => {
      arrived += 1;
      if (arrived === 2) together.resolve();
      await together.promise;
      return n;
    };
    const branch = (name: string, n: number): object => ({
      StartAt: `Set${name}`,
      States: {
        [`Set${name}`]: { Type: 'Pass', Result: { n }, Next: `Meet${name}` },
        [`Meet${name}`]: invoke('meet'),
      },
    });
    const ended = await run(
      only({ Type: 'Parallel', Branches: [branch('A', 1), branch('B', 2)], ResultPath: '$.both' }),
      { in: 1 },
    );
    expect(ended.result).toEqual({ in: 1, both: [1, 2] });
    const events = await world.history(ended.arn);
    const started = events.find(({ type }) => type === 'ParallelStateStarted');
    const firstOfBranches = events.filter(({ stateEnteredEventDetails: entered }) =>
      entered?.name?.startsWith('Set'),
    );
    expect(firstOfBranches.map(({ previousEventId }) => previousEventId)).toEqual([started?.id, started?.id]);
    expect(events.map(({ type }) => type)).toContain('ParallelStateSucceeded');
  });

  test('the first failure ends the others, and can be caught', async () => {
    let late = 0;
    world.functions['late'] = () => (late += 1);
    const ended = await run({
      StartAt: 'Both',
      States: {
        Both: {
          Type: 'Parallel',
          Branches: [
            { StartAt: 'Break', States: { Break: { Type: 'Fail', Error: 'Snap', Cause: 'thin' } } },
            {
              StartAt: 'Pause',
              States: { Pause: { Type: 'Wait', Seconds: 60, Next: 'Late' }, Late: invoke('late') },
            },
          ],
          Catch: [{ ErrorEquals: ['Snap'], Next: 'Caught' }],
          Next: 'Caught',
        },
        Caught: { Type: 'Succeed' },
      },
    });
    expect(ended.result).toEqual({ Error: 'Snap', Cause: 'thin' });
    expect(late).toBe(0);
    expect((await world.history(ended.arn)).map(({ type }) => type)).toContain('ParallelStateFailed');
  });
});

describe.concurrent('Map', () => {
  test('maps items with a selector; the context knows item, index and the execution input', async () => {
    const ended = await run(
      only({
        Type: 'Map',
        ItemsPath: '$.items',
        ItemSelector: { 'index.$': '$$.Map.Item.Index', 'value.$': '$$.Map.Item.Value', 'all.$': '$.items' },
        ItemProcessor: {
          StartAt: 'Inside',
          States: {
            Inside: {
              Type: 'Pass',
              Parameters: {
                'index.$': '$.index',
                'value.$': '$$.Map.Item.Value',
                'executionInput.$': '$$.Execution.Input.mark',
                'state.$': '$$.State.Name',
              },
              End: true,
            },
          },
        },
      }),
      { items: ['a', 'b'], mark: 'm' },
    );
    expect(ended.result).toEqual([
      { index: 0, value: 'a', executionInput: 'm', state: 'Inside' },
      { index: 1, value: 'b', executionInput: 'm', state: 'Inside' },
    ]);
    const events = await world.history(ended.arn);
    expect(events.find(({ type }) => type === 'MapStateStarted')?.mapStateStartedEventDetails).toEqual({
      length: 2,
    });
    expect(events.filter(({ type }) => type === 'MapIterationSucceeded')).toHaveLength(2);
  });

  test('no more items at once than MaxConcurrency', async () => {
    let inside = 0;
    let most = 0;
    world.functions['count'] = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 150));
      inside -= 1;
      return null;
    };
    const processor = { StartAt: 'Count', States: { Count: invoke('count') } };
    const ended = await run(
      only({ Type: 'Map', MaxConcurrencyPath: '$.limit', ItemsPath: '$.items', ItemProcessor: processor }),
      {
        limit: 2,
        items: [1, 2, 3, 4, 5],
      },
    );
    expect(ended.result).toEqual([null, null, null, null, null]);
    expect(most).toBe(2);
  });

  test('an empty list gives an empty list; what is no list fails', async () => {
    const map = only({
      Type: 'Map',
      ItemProcessor: { StartAt: 'In', States: { In: { Type: 'Pass', End: true } } },
    });
    expect((await run(map, [])).result).toEqual([]);
    expect(await run(map, { no: 'list' })).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
  });

  test('a failing item fails the Map, whose Retry runs all items again', async () => {
    let calls = 0;
    world.functions['second-round'] = (n: number) => {
      calls += 1;
      if (calls <= 2 && n === 2) throw errorNamed('FirstRound');
      return n * 10;
    };
    const ended = await run(
      only({
        Type: 'Map',
        MaxConcurrency: 1,
        ItemProcessor: { StartAt: 'Do', States: { Do: invoke('second-round') } },
        Retry: [{ ErrorEquals: ['FirstRound'], IntervalSeconds: 1, MaxAttempts: 1 }],
      }),
      [1, 2],
    );
    expect(ended.result).toEqual([10, 20]);
    expect(calls).toBe(4);
    const types = (await world.history(ended.arn)).map(({ type }) => type);
    expect(types).toContain('MapIterationFailed');
    expect(types.filter((type) => type === 'MapStateStarted')).toHaveLength(2);
  });

  test('a Parallel inside a Map sees the item', async () => {
    const parallel = {
      Type: 'Parallel',
      Branches: [
        {
          StartAt: 'Left',
          States: { Left: { Type: 'Pass', Parameters: { 'v.$': '$$.Map.Item.Value' }, End: true } },
        },
        {
          StartAt: 'Right',
          States: { Right: { Type: 'Pass', Parameters: { 'i.$': '$$.Map.Item.Index' }, End: true } },
        },
      ],
      End: true,
    };
    const ended = await run(
      only({ Type: 'Map', ItemProcessor: { StartAt: 'Fork', States: { Fork: parallel } } }),
      ['x', 'y'],
    );
    expect(ended.result).toEqual([
      [{ v: 'x' }, { i: 0 }],
      [{ v: 'y' }, { i: 1 }],
    ]);
  });
});
