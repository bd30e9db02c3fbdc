import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseOptions } from '../../bin/selftest/options.ts';
import { type PassedHop, Progress, STEPS } from '../../bin/selftest/progress.ts';
import { endLines, hopLine, painter } from '../../bin/selftest/report.ts';
import { localTarget } from '../../bin/selftest/target.ts';
import { deniedSince } from '../../bin/selftest/where-to-look.ts';
import { HOPS, type SelftestView } from '../../functions/selftest/selftest.ts';

const plain = painter(false);
const view = (status: SelftestView['status'], hopCount: number): SelftestView => ({
  id: 'r1',
  status,
  created_at: '2026-11-16T04:00:00.000Z',
  hops: HOPS.slice(0, hopCount).map((hop, index) => ({
    hop,
    at: '2026-11-16T04:00:00.000Z',
    offset_ms: index,
  })),
});

describe('the command line', () => {
  test('looks for the platform of this machine by default', () => {
    expect(parseOptions([])).toEqual({
      url: undefined,
      readyFile: '.data/ready.json',
      logDir: '.data/logs',
      timeoutSeconds: 60,
      json: false,
    });
  });

  test('finds ready file and logs in another data folder', () => {
    expect(parseOptions(['--data', '/tmp/x'])).toMatchObject({
      readyFile: '/tmp/x/ready.json',
      logDir: '/tmp/x/logs',
    });
    expect(parseOptions(['--data', '/tmp/x', '--ready-file', 'r.json'])).toMatchObject({
      readyFile: 'r.json',
    });
  });

  test.each([
    [['--bogus']],
    [['--timeout', '0']],
    [['--timeout', 'soon']],
    [['--url', 'ftp://x']],
    [['--url', 'x']],
    [['word']],
  ])('tells what it does not understand: %j', (args) => {
    expect(parseOptions(args)).toHaveProperty('error');
  });

  test('says how to start the platform when it is not running', () => {
    expect(() => localTarget('/nowhere/ready.json')).toThrow(/not running.*npm start/);
  });
});

describe('the account of a run', () => {
  test('tells each hop once, however often and in whatever order it hears of it', () => {
    const news = fc.array(fc.record({ hops: fc.integer({ min: 0, max: HOPS.length }), push: fc.boolean() }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(news, (heard) => {
        const told: PassedHop[] = [];
        const progress = new Progress((hop) => told.push(hop), 0);
        for (const { hops, push } of heard) {
          const seen = view(hops === HOPS.length ? 'passed' : 'running', hops);
          if (push) progress.seePush(5);
          progress.see(seen);
        }
        const names = told.map(({ hop }) => hop);
        expect(new Set(names).size).toBe(names.length);
        expect(names).toEqual(STEPS.filter((step) => names.includes(step)));
      }),
    );
  });

  test('keeps its verdict when older news comes late', () => {
    const progress = new Progress(() => {}, 0);
    progress.see(view('passed', HOPS.length));
    progress.see(view('running', 2));
    progress.seePush(20);
    expect(progress).toMatchObject({ status: 'passed', missing: undefined });
  });

  test('tells the push last, though it was heard before the hops were read', () => {
    const told: PassedHop[] = [];
    const progress = new Progress((hop) => told.push(hop), 0);
    progress.seePush(30);
    expect(told).toEqual([]);
    progress.see(view('passed', HOPS.length));
    expect(told.map(({ hop }) => hop)).toEqual(STEPS);
    expect(told.at(-1)).toMatchObject({ offset_ms: 30 });
  });

  test('counts the verdict as pushed only when it came over the socket', () => {
    const progress = new Progress(() => {}, 0);
    progress.see(view('passed', HOPS.length));
    expect(progress.missing).toBe('pushed');
    progress.seePush(30);
    expect(progress.hops.at(-1)).toMatchObject({ hop: 'pushed', offset_ms: 30 });
  });
});

describe('what it prints', () => {
  test('is a line for each hop, aligned', () => {
    const lines = [view('passed', 6).hops[0], view('passed', 6).hops[5]].map(
      (hop) => hop && hopLine(hop, plain),
    );
    expect(lines).toEqual([
      '  ✓ accepted        0 ms   2026-11-16T04:00:00.000Z',
      '  ✓ finished        5 ms   2026-11-16T04:00:00.000Z',
    ]);
  });

  test('has colour only where it is wanted', () => {
    const [hop] = view('passed', 1).hops;
    expect(hop && hopLine(hop, plain)).not.toContain('\u001B');
    expect(hop && hopLine(hop, painter(true))).toContain('\u001B[32m✓');
  });

  test('ends with the verdict, and for a failure with cause and place', () => {
    expect(endLines({ passed: true, id: 'r1', hops: view('passed', 6).hops }, [], plain).at(-1)).toBe(
      'PASS  6 hops in 5 ms (run r1)',
    );
    const failure = {
      hop: 'dispatched',
      code: 'AccessDenied',
      detail: 'is not authorized to perform: sqs:SendMessage',
    } as const;
    const lines = endLines({ passed: false, id: 'r1', hops: [], failure }, [], plain);
    expect(lines[0]).toBe('  ✗ dispatched AccessDenied: is not authorized to perform: sqs:SendMessage');
    expect(lines[1]).toMatch(/Look at .*dispatch-selftest/);
    expect(lines.at(-1)).toBe('FAIL  at dispatched (run r1)');
  });
});

describe('the logs of this machine', () => {
  test('tell what was denied since the run began, each once', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpuaas-logs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const denial =
      'User: arn:aws:sts::000000000000:assumed-role/r/s is not authorized to perform: dynamodb:GetItem on resource: arn:aws:dynamodb:us-east-1:000000000000:table/t';
    const line = (time: string, text: string) =>
      JSON.stringify({ time, error: { message: `${text} because no policy allows it` } });
    const older = denial.replace('GetItem', 'PutItem');
    writeFileSync(
      join(folder, 'a.log'),
      [
        line('2026-11-16T03:59:59Z', older),
        line('2026-11-16T04:00:01Z', denial),
        line('2026-11-16T04:00:02Z', denial),
      ].join('\n'),
    );
    expect(deniedSince(folder, Date.parse('2026-11-16T04:00:00Z'))).toEqual([denial]);
    expect(deniedSince('/nowhere', 0)).toEqual([]);
  });
});
