import { ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDeliver } from '../../../lib/local/lambda/deliver.ts';
import { parseScheduleExpression } from '../../../lib/local/schedules/schedule-expression.ts';
import { Schedules, type ScheduleSpec } from '../../../lib/local/schedules/schedules.ts';
import { StepFunctions } from '../../../lib/local/step-functions/index.ts';
import { until } from '../../until.ts';
import { allow, HostedWorld } from '../lambda/hosted-world.ts';
import { roleArn, type Recorder } from '../lambda/lambda-world.ts';

describe('expressions', () => {
  const next = (expression: string, timezone?: string) => {
    const at = parseScheduleExpression(expression, timezone)(Date.parse('2026-11-10T10:00:30Z')); // a Tuesday
    return at === undefined ? undefined : new Date(at).toISOString();
  };

  test.each<[string, string | undefined, string | undefined]>([
    ['rate(1 minute)', undefined, '2026-11-10T10:01:30.000Z'],
    ['rate(5 minutes)', undefined, '2026-11-10T10:05:30.000Z'],
    ['rate(2 hours)', undefined, '2026-11-10T12:00:30.000Z'],
    ['rate(1 day)', undefined, '2026-11-11T10:00:30.000Z'],
    ['cron(0 3 * * ? *)', undefined, '2026-11-11T03:00:00.000Z'],
    ['cron(0 3 * * ? *)', 'Europe/Berlin', '2026-11-11T02:00:00.000Z'],
    ['cron(0/15 * * * ? *)', undefined, '2026-11-10T10:15:00.000Z'],
    ['cron(5/20 10-12 * * ? *)', undefined, '2026-11-10T10:05:00.000Z'],
    ['cron(0 12 ? * 1 *)', undefined, '2026-11-15T12:00:00.000Z'],
    ['cron(0 12 ? * 2-6 *)', undefined, '2026-11-10T12:00:00.000Z'],
    ['cron(0 8 ? * MON,WED *)', undefined, '2026-11-11T08:00:00.000Z'],
    ['cron(0 8 ? * 6L *)', undefined, '2026-11-27T08:00:00.000Z'],
    ['cron(0 8 ? * L *)', undefined, '2026-11-14T08:00:00.000Z'],
    ['cron(0 8 ? * 3#3 *)', undefined, '2026-11-17T08:00:00.000Z'],
    ['cron(0 8 L * ? *)', undefined, '2026-11-30T08:00:00.000Z'],
    ['cron(0 8 1W * ? *)', undefined, '2026-12-01T08:00:00.000Z'],
    ['cron(0 0 1 1 ? 2028)', undefined, '2028-01-01T00:00:00.000Z'],
    ['cron(0 0 1 JAN ? 2020)', undefined, undefined],
    ['at(2026-11-20T13:00:00)', undefined, '2026-11-20T13:00:00.000Z'],
    ['at(2026-11-20T13:00:00)', 'America/New_York', '2026-11-20T18:00:00.000Z'],
    ['at(2020-01-01T00:00:00)', undefined, undefined],
  ])('%s in %s', (expression, timezone, expected) => {
    expect(next(expression, timezone)).toBe(expected);
  });

  test.each([
    'every day',
    'rate(0 minutes)',
    'rate(1 minutes)',
    'rate(5 minute)',
    'rate(5 seconds)',
    'rate(-1 hours)',
    'cron(0 3 * * *)',
    'cron(0 3 * * * *)',
    'cron(0 3 ? * ? *)',
    'cron(99 3 * * ? *)',
    'cron(0 3 * FOO ? *)',
    'at(tomorrow)',
    'at(2026-13-40T00:00:00)',
  ])('%s is refused', (expression) => {
    expect(() => parseScheduleExpression(expression)).toThrow(/^(every day|rate|cron|at)/);
  });

  test('a time zone nobody knows is refused', () => {
    expect(() => parseScheduleExpression('cron(0 3 * * ? *)', 'Mars/Olympus')).toThrow(/Mars\/Olympus/);
  });
});

describe('firing', () => {
  let world: HostedWorld;
  let machines: StepFunctions;
  let running: Schedules[];
  beforeEach(async () => {
    world = new HostedWorld();
    machines = new StepFunctions({ journal: world.journal, principals: world.principals });
    await world.open([machines.service]);
    running = [];
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all(running.map((schedules) => schedules.stop()));
    await machines.stop();
    await world.close();
  });

  function newSchedules(): Schedules {
    const { principals, journal } = world;
    const schedules = new Schedules({ principals, journal, deliver: createDeliver(principals) });
    running.push(schedules);
    return schedules;
  }

  /** Makes the journal say that the schedule fired so long ago. */
  function firedBefore(name: string, ms: number): void {
    const update = 'UPDATE schedule SET last_fired_at_ms = ? WHERE name = ?';
    world.journal.prepare(update).run(Date.now() - ms, name);
  }

  function lastFired(name: string): number {
    const query = 'SELECT last_fired_at_ms FROM schedule WHERE name = ?';
    return (world.journal.prepare(query).get(name) as { last_fired_at_ms: number }).last_fired_at_ms;
  }

  function schedule(target: Pick<Recorder, 'spec'>, more: Partial<ScheduleSpec> = {}): ScheduleSpec {
    return {
      name: 'sweep',
      expression: 'rate(1 minute)',
      enabled: true,
      targetArn: target.spec.arn,
      roleArn: roleArn('scheduler'),
      ...more,
    };
  }

  const invoke = (target: Recorder) =>
    world.grant('scheduler', allow(['lambda:InvokeFunction'], target.spec.arn));

  test('a schedule fires when it is due, with the event AWS sends', async () => {
    const target = world.recorder('swept');
    invoke(target);
    const schedules = newSchedules();
    schedules.put(schedule(target));
    firedBefore('sweep', 59_700);
    schedules.start();
    await until(() => target.invocations().length === 1);
    expect(target.invocations()[0]?.event).toEqual({
      version: '0',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      'detail-type': 'Scheduled Event',
      source: 'aws.scheduler',
      account: '000000000000',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      region: 'us-east-1',
      resources: ['arn:aws:scheduler:us-east-1:000000000000:schedule/default/sweep'],
      detail: '{}',
    });
  });

  test('input is passed on, with what is known of the call put in its place', async () => {
    const target = world.recorder('told');
    invoke(target);
    const schedules = newSchedules();
    const input = '{"by":"<aws.scheduler.schedule-arn>","try":"<aws.scheduler.attempt-number>"}';
    schedules.put(schedule(target, { input }));
    firedBefore('sweep', 60_000);
    schedules.start();
    await until(() => target.invocations().length === 1);
    expect(target.invocations()[0]?.event).toEqual({
      by: 'arn:aws:scheduler:us-east-1:000000000000:schedule/default/sweep',
      try: '1',
    });
  });

  test('however much was missed, a restart fires once and then keeps time', async () => {
    const target = world.recorder('missed');
    invoke(target);
    const before = newSchedules();
    before.put(schedule(target));
    firedBefore('sweep', 3_600_000);
    const restartedAtMs = Date.now();
    const after = newSchedules();
    after.put(schedule(target));
    after.start();
    await until(() => lastFired('sweep') >= restartedAtMs);
    const again = newSchedules();
    again.put(schedule(target));
    again.start();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(target.invocations()).toHaveLength(1);
  });

  test('a new schedule counts from now, and so does one whose time was changed', async () => {
    const target = world.recorder('fresh');
    invoke(target);
    const schedules = newSchedules();
    const madeAtMs = Date.now();
    schedules.put(schedule(target));
    expect(lastFired('sweep')).toBeGreaterThanOrEqual(madeAtMs);
    firedBefore('sweep', 3_600_000);
    schedules.put(schedule(target, { expression: 'rate(2 minutes)' }));
    expect(lastFired('sweep')).toBeGreaterThanOrEqual(madeAtMs);
  });

  test('a disabled or removed schedule does not fire', async () => {
    const target = world.recorder('still');
    invoke(target);
    const schedules = newSchedules();
    schedules.start();
    schedules.put(schedule(target, { enabled: false }));
    schedules.put(schedule(target, { name: 'removed' }));
    firedBefore('sweep', 60_000);
    schedules.put(schedule(target, { enabled: false }));
    firedBefore('removed', 59_900);
    schedules.put(schedule(target, { name: 'removed' }));
    schedules.keepOnly(new Set(['sweep']));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(target.invocations()).toEqual([]);
  });

  test('an at() fires once in its life', async () => {
    const target = world.recorder('lonely');
    invoke(target);
    const inTwoSeconds = new Date(Date.now() + 2000).toISOString().slice(0, 19);
    for (let start = 0; start < 2; start++) {
      const schedules = newSchedules();
      schedules.put(schedule(target, { expression: `at(${inTwoSeconds})` }));
      schedules.start();
      await until(() => lastFired('sweep') === Date.parse(`${inTwoSeconds}Z`));
    }
    const waiting = () => world.journal.prepare('SELECT COUNT(*) AS waiting FROM async_invocation').get();
    await until(() => waiting()?.['waiting'] === 0);
    expect(target.invocations()).toHaveLength(1);
  });

  test('queues and state machines are targets too', async () => {
    const queue = await world.createQueue('ticks');
    const machineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:tock';
    const definition = { StartAt: 'Done', States: { Done: { Type: 'Succeed' } } };
    machines.put({ name: 'tock', arn: machineArn, roleArn: roleArn('tock'), definition });
    world.grant(
      'scheduler',
      allow(['sqs:SendMessage'], queue.arn),
      allow(['states:StartExecution'], machineArn),
    );
    const schedules = newSchedules();
    const roleOnly = { spec: world.recorder('unused').spec };
    schedules.put(schedule(roleOnly, { name: 'tick', targetArn: queue.arn, input: 'tick' }));
    schedules.put(schedule(roleOnly, { name: 'tock', targetArn: machineArn, input: '{"tock":true}' }));
    for (const name of ['tick', 'tock']) firedBefore(name, 60_000);
    schedules.start();
    expect(await until(async () => (await queue.receive())[0])).toMatchObject({ body: 'tick' });
    const states = new SFNClient(world.operator());
    const executions = () => states.send(new ListExecutionsCommand({ stateMachineArn: machineArn }));
    await until(async () => (await executions()).executions?.length === 1);
  });

  test('without the right to invoke, the event goes to the dead-letter queue at once', async () => {
    const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const dead = await world.createQueue('dead');
    const target = world.recorder('forbidden');
    world.grant('scheduler', allow(['sqs:SendMessage'], dead.arn));
    const schedules = newSchedules();
    schedules.put(schedule(target, { deadLetterArn: dead.arn, input: '{"n":1}' }));
    firedBefore('sweep', 60_000);
    schedules.start();
    expect(await until(async () => (await dead.receive())[0])).toMatchObject({ body: '{"n":1}' });
    expect(said.mock.calls.flat().join('')).toContain('not authorized to perform: lambda:InvokeFunction');
    expect(target.invocations()).toEqual([]);
  });

  test('what can not be scheduled is refused by name', () => {
    const target = world.recorder('refused');
    const schedules = newSchedules();
    expect(() => schedules.put(schedule(target, { expression: 'rate(1 fortnight)' }))).toThrow(
      'The schedule sweep is not valid: rate(1 fortnight) must be',
    );
    expect(() =>
      schedules.put(schedule(target, { targetArn: 'arn:aws:sns:us-east-1:000000000000:t' })),
    ).toThrow('The schedule sweep targets arn:aws:sns');
  });
});
