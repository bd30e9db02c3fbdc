import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dynamo } from '../../functions/platform/clients.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { createContext } from '../../functions/platform/context.ts';
import { command, type Reply } from '../../functions/platform/http/endpoint.ts';
import { refuse } from '../../functions/platform/errors.ts';
import { auditKey, PLATFORM } from '../../functions/platform/data/keys.ts';
import type { Request } from '../../functions/platform/http/request.ts';
import { controlTable } from '../../functions/platform/data/table.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

const begun = new Date('2026-11-20T12:00:00.000Z');
const DAY_SECONDS = 24 * 3600;

let table: ControlTable;
let made = 0;
let isRefused = false;
let isUnreachable = false;
let said = '';

const make = command({ summary: 'Make a thing', action: 'test.thing.make', status: 201 }, () => {
  if (isRefused) throw refuse('project.archived');
  made += 1;
  return {
    subject: `thing:${made}`,
    after: { number: made },
    reason: 'It was asked for.',
    writes: [],
    events: [{ type: 'test.thing.made', version: 1, data: { said } }],
    reply: { number: made },
    secrets: { secret: `secret-${made}` },
  };
});

function run(idempotencyKey: string, { after = 0, id = 'a' } = {}): Promise<Reply> {
  const request = {
    route: 'POST /things/{id}',
    params: { id },
    query: {},
    idempotencyKey,
    sourceIp: '192.0.2.1',
  };
  const now = () => secondsAfter(begun, after);
  return make.run({ ...createContext('look-1'), now }, request as unknown as Request);
}

beforeAll(async () => {
  table = await startControlTable();
  dynamo().middlewareStack.add(
    (next) => (args) => {
      if (!isUnreachable || !('TransactItems' in args.input)) return next(args);
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    },
    { step: 'initialize', name: 'unreachable' },
  );
});

afterAll(() => table.stop());

describe('an idempotency key', () => {
  test('is for one request: the same about another thing is another', async () => {
    const { body } = await run('one', { id: 'a' });
    await expect(run('one', { id: 'b' })).rejects.toMatchObject({ code: 'idempotency.other_body' });
    expect(await run('one', { id: 'a' })).toMatchObject({ body: body as object });
  });

  test('gives the secret of the first answer again for ten minutes', async () => {
    const { body } = await run('secret');
    expect(await run('secret', { after: 599 })).toMatchObject({ body: body as object });
    const { body: later } = await run('secret', { after: 600 });
    expect(later).toEqual({ number: (body as { number: number }).number });
  });

  test('stands for the first request for a day, though the table may keep it for longer', async () => {
    const { body } = await run('day');
    isRefused = true;
    const { number } = body as { number: number };
    expect(await run('day', { after: DAY_SECONDS - 1 })).toMatchObject({ body: { number } });
    await expect(run('day', { after: DAY_SECONDS })).rejects.toMatchObject({ code: 'project.archived' });
    isRefused = false;
    expect(await run('day', { after: DAY_SECONDS })).not.toMatchObject({ body: { number } });
  });
});

describe('a command', () => {
  test('is audited: what was done to what, by whom, why, from where, under which request', async () => {
    await run('audited');
    const { Items = [] } = await dynamo().send(
      new QueryCommand({
        TableName: controlTable(),
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': auditKey(PLATFORM, '').pk },
      }),
    );
    expect(Items.at(-1)).toMatchObject({
      at: begun.toISOString(),
      actor: 'anonymous',
      action: 'test.thing.make',
      subject: `thing:${made}`,
      after: { number: made },
      reason: 'It was asked for.',
      correlation_id: 'look-1',
      source_ip: '192.0.2.1',
    });
  });

  test('whose write does not reach the table fails at once, and is not told as a race', async () => {
    isUnreachable = true;
    const before = made;
    await expect(run('unreachable').finally(() => (isUnreachable = false))).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
    expect(made - before).toBe(1);
  });

  test('that says more than can be pushed to a socket changes nothing', async () => {
    said = 'x'.repeat(64 * 1024);
    await expect(run('loud').finally(() => (said = ''))).rejects.toThrow('test.thing.made is too large');
    const before = made;
    expect(await run('loud')).toMatchObject({ body: { number: before + 1 } });
  });
});
