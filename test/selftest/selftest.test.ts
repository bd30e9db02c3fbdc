import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DEADLINE_SECONDS,
  HOPS,
  type Hop,
  isEnded,
  judgeSelftest,
  missingHops,
  planSelftest,
  PRECEDING,
  type Selftest,
  type SelftestStatus,
  stalled,
  repairOf,
  viewSelftest,
} from '../../functions/selftest/selftest.ts';

const ID = '01a1e29a-5c93-7451-ad27-ac4b0c5292fa';
const begun = new Date('2026-11-16T04:00:00.000Z');
const after = (seconds: number) => new Date(begun.getTime() + seconds * 1000);
const planned = planSelftest(ID, { correlationId: 'look-1' }, begun);

const run = (change: Partial<Selftest>): Selftest => ({ ...planned, ...change });
const withHops = (...hops: Hop[]) =>
  run({ status: 'running', hops: Object.fromEntries(hops.map((hop) => [hop, begun.toISOString()])) });

const BEFORE_END: Hop[] = ['accepted', 'streamed', 'started', 'dispatched', 'answered'];

describe('a run', () => {
  test('is born requested, with its first hop behind it and a deadline ahead', () => {
    expect(planned).toMatchObject({ status: 'requested', hops: { accepted: begun.toISOString() } });
    expect(planned.deadline_at).toBe(after(DEADLINE_SECONDS).toISOString());
  });

  test.each<[SelftestStatus, SelftestStatus, boolean]>([
    ['requested', 'running', true],
    ['requested', 'passed', false],
    ['requested', 'failed', true],
    ['running', 'running', false],
    ['running', 'passed', true],
    ['running', 'failed', true],
    ['passed', 'running', false],
    ['passed', 'passed', false],
    ['passed', 'failed', false],
    ['failed', 'running', false],
    ['failed', 'passed', false],
    ['failed', 'failed', false],
  ])('that is %s may become %s: %s', (from, to, may) => {
    const preceding: readonly SelftestStatus[] = to === 'requested' ? [] : PRECEDING[to];
    expect(preceding.includes(from)).toBe(may);
  });

  test('shows its hops in travelling order, each with the time since it was accepted', () => {
    const view = viewSelftest(
      run({
        hops: {
          answered: after(0.25).toISOString(),
          accepted: begun.toISOString(),
          streamed: after(0.01).toISOString(),
        },
      }),
    );
    expect(view.hops).toEqual([
      { hop: 'accepted', at: begun.toISOString(), offset_ms: 0 },
      { hop: 'streamed', at: after(0.01).toISOString(), offset_ms: 10 },
      { hop: 'answered', at: after(0.25).toISOString(), offset_ms: 250 },
    ]);
  });

  test('shows nothing but what is meant to be seen', () => {
    expect(Object.keys(viewSelftest(run({ rescued_at: begun.toISOString() })))).toEqual([
      'id',
      'status',
      'created_at',
      'hops',
    ]);
  });
});

describe('the verdict', () => {
  test('is passed when every hop before the end left its mark', () => {
    expect(judgeSelftest(withHops(...BEFORE_END))).toEqual({ status: 'passed' });
  });

  test('is passed for no other set of hops', () => {
    fc.assert(
      fc.property(fc.subarray([...HOPS]), (hops) => {
        const whole = BEFORE_END.every((hop) => hops.includes(hop));
        expect(judgeSelftest(withHops(...hops)).status).toBe(whole ? 'passed' : 'failed');
      }),
    );
  });

  test('names the first hop that is missing', () => {
    expect(judgeSelftest(withHops('accepted', 'started', 'dispatched', 'answered'))).toMatchObject({
      failure: { hop: 'streamed', code: 'selftest.hop_missing' },
    });
  });

  test.each([
    [
      'a function that threw',
      {
        Error: 'AccessDenied',
        Cause: '{"errorType":"AccessDenied","errorMessage":"may not perform: sqs:SendMessage"}',
      },
      'may not perform: sqs:SendMessage',
    ],
    ['an answer that refused', { Error: 'AccessDenied', Cause: 'may not answer' }, 'may not answer'],
    ['silence', { Error: 'States.HeartbeatTimeout', Cause: '' }, 'No answer came in time.'],
    ['an error without a cause', { Error: 'States.Runtime', Cause: '' }, 'The workflow reported no cause.'],
  ])(
    'of a workflow stopped by %s tells the code and the cause at the hop it was on its way to',
    (_, error, detail) => {
      expect(judgeSelftest(withHops('accepted', 'streamed', 'started'), error)).toEqual({
        status: 'failed',
        failure: { hop: 'dispatched', code: error.Error, detail },
      });
    },
  );

  test('of an error is failed whatever hops there are, and never longer than a record should be', () => {
    fc.assert(
      fc.property(
        fc.subarray([...HOPS]),
        fc.string(),
        fc.string({ maxLength: 5_000 }),
        (hops, Error, Cause) => {
          const verdict = judgeSelftest(withHops(...hops), { Error, Cause });
          const detail = verdict.status === 'failed' ? verdict.failure.detail : undefined;
          expect(detail?.length).toBeLessThanOrEqual(1_000);
        },
      ),
    );
  });
});

describe('the sweep', () => {
  const late = DEADLINE_SECONDS + 1;

  test.each<[string, Partial<Selftest>, number, string]>([
    ['leaves a run alone before its deadline', {}, DEADLINE_SECONDS - 1, 'wait'],
    ['starts a run nobody started', {}, late, 'start'],
    [
      'gives a run it started the same time again',
      { rescued_at: after(late).toISOString() },
      late + DEADLINE_SECONDS - 1,
      'wait',
    ],
    [
      'fails a run that did not start even so',
      { rescued_at: after(late).toISOString() },
      late + DEADLINE_SECONDS,
      'fail',
    ],
    ['fails a run that hangs', { status: 'running' }, late, 'fail'],
    ['leaves a run that passed', { status: 'passed' }, late, 'wait'],
    ['leaves a run that failed', { status: 'failed' }, late, 'wait'],
  ])('%s', (_, change, seconds, decision) => {
    expect(repairOf(run(change), after(seconds))).toBe(decision);
  });

  test('never touches a run that has ended, and never waits for ever', () => {
    const status = fc.constantFrom<SelftestStatus>('requested', 'running', 'passed', 'failed');
    const rescued = fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: undefined });
    fc.assert(
      fc.property(status, rescued, (status, seconds) => {
        const swept = run({
          status,
          ...(seconds !== undefined && { rescued_at: after(seconds).toISOString() }),
        });
        const decision = repairOf(swept, after(10_000));
        expect(decision === 'wait').toBe(isEnded(swept));
      }),
    );
  });

  test('says which hop a hanging run did not pass', () => {
    const hanging = withHops('accepted', 'streamed', 'started');
    expect(missingHops(hanging)).toEqual(['dispatched', 'answered']);
    expect(stalled(hanging)).toMatchObject({ hop: 'dispatched', code: 'selftest.stalled' });
  });
});
