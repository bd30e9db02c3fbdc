import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DescribeExecutionCommand, ListStateMachinesCommand, SFNClient } from '@aws-sdk/client-sfn';
import { expect, inject, test } from 'vitest';
import { newId } from '../../functions/platform/ids.ts';
import { until } from '../until.ts';
import { done } from './people.ts';
import { dataDir, readBus } from './planted-secrets.ts';
import { readCredentials } from './signed-fetch.ts';

const ready = inject('platform');
const traceId = randomBytes(16).toString('hex');
const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
const requestId = newId();

/** Everything that leaves a line on the way of a self-test, from the request to the last push. */
const ON_THE_WAY = [
  'events-dispatch-events',
  'events-relay-events',
  'selftest-answer-selftest',
  'selftest-api',
  'selftest-dispatch-selftest',
  'selftest-end-selftest',
  'selftest-react-to-events',
];

interface Line {
  fn: string;
  correlation_id?: string;
  trace_id?: string;
  span_id?: string;
}

/** The lines that were logged on behalf of the request. */
function linesOf(correlationId: string): Line[] {
  const folder = join(dataDir, 'logs');
  return readdirSync(folder).flatMap((file) => {
    const fn = file.replace(/^Gpuaas[A-Z]\w+-|\.log$/g, '');
    return readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes(correlationId))
      .map((line) => ({ fn, ...(JSON.parse(line) as Omit<Line, 'fn'>) }));
  });
}

test('one trace leads from a request through dispatcher, reaction, workflow, queue and relay', async () => {
  const { id } = await done<{ id: string }>('POST', '/api/v1/admin/selftests', {
    as: 'admin',
    headers: { traceparent, 'x-request-id': requestId },
  });
  await until(async () => {
    const run = await done<{ status: string }>('GET', `/api/v1/admin/selftests/${id}`, { as: 'admin' });
    return run.status === 'passed';
  }, 'the run to pass');

  // Both of its events were told: that it was requested, and that it ended.
  const told = await until(() => {
    const events = readBus()
      .map(({ text }) => (JSON.parse(text) as { detail: Record<string, unknown> }).detail)
      .filter(({ correlation_id }) => correlation_id === requestId);
    return events.length === 2 && events;
  }, 'both events on the bus');
  for (const event of told)
    expect(event['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));

  const lines = await until(
    () => {
      const found = linesOf(requestId);
      return ON_THE_WAY.every((fn) => found.some((line) => line.fn === fn)) && found;
    },
    `a line of each of ${ON_THE_WAY.join(', ')}`,
  );
  expect([...new Set(lines.map(({ fn }) => fn))].sort()).toEqual(ON_THE_WAY);
  expect(new Set(lines.map(({ trace_id }) => trace_id))).toEqual(new Set([traceId]));
  // Each part is a span of its own.
  const spans = new Map(lines.map(({ fn, span_id }) => [fn, span_id]));
  expect(new Set(spans.values()).size).toBe(ON_THE_WAY.length);

  const states = new SFNClient({
    endpoint: ready.aws_endpoint,
    region: ready.region,
    credentials: readCredentials(ready),
  });
  const { stateMachines = [] } = await states.send(new ListStateMachinesCommand({}));
  const machine = stateMachines.find(({ name }) => name?.includes('selftest'))?.stateMachineArn ?? '';
  const executionArn = `${machine.replace(':stateMachine:', ':execution:')}:${id}`;
  const { input = '' } = await states.send(new DescribeExecutionCommand({ executionArn }));
  expect(JSON.parse(input)).toMatchObject({
    correlation_id: requestId,
    traceparent: expect.stringContaining(traceId) as string,
  });
});

test('every line that functions log has a trace', () => {
  const folder = join(dataDir, 'logs');
  const functions = readdirSync(folder).filter((file) => file.startsWith('Gpuaas'));
  const lines = functions.flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"level"'))
      .map((line) => ({ file, line })),
  );
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter(({ line }) => !/"trace_id":"[0-9a-f]{32}"/.test(line))).toEqual([]);
});
