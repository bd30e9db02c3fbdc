import { QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../../functions/platform/actor.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { commit, Conflict } from '../../functions/platform/data/commit.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { auditKey, outboxKey, PLATFORM } from '../../functions/platform/data/keys.ts';
import { controlTable } from '../../functions/platform/data/table.ts';
import { redeemTicket } from '../../functions/events/connection-store.ts';
import { getSelftest } from '../../functions/selftest/get-selftest.ts';
import { requestSelftest } from '../../functions/selftest/request-selftest.ts';
import { concludeSelftest } from '../../functions/selftest/conclude-selftest.ts';
import { failureAt, type SelftestView } from '../../functions/selftest/selftest.ts';
import {
  beginSelftest,
  findSelftest,
  markRescued,
  recordHop,
  saveVerdict,
} from '../../functions/selftest/selftest-store.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

const TEAM: Actor = { kind: 'platform_team', id: 'arn:aws:iam::123456789012:user/someone' };

let table: ControlTable;

beforeAll(async () => {
  table = await startControlTable();
  process.env['SOCKET_URL'] = 'wss://socket.example.test/live';
});

afterAll(() => table.stop());

const request = (idempotencyKey: string | undefined, params = {}) => ({
  route: 'POST /api/v1/selftests',
  params,
  query: {},
  bodyText: undefined,
  contentType: '',
  idempotencyKey,
  ifMatch: undefined,
  sourceIp: '192.0.2.1',
});

async function ask(key: string, actor = TEAM) {
  const reply = await requestSelftest.run({ ...createContext('look-1'), actor }, request(key));
  return { ...reply, body: reply.body as SelftestView & { ticket?: string; socket_url: string } };
}

const rowsIn = async (pk: string) =>
  (
    await dynamo().send(
      new QueryCommand({
        TableName: controlTable(),
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
      }),
    )
  ).Items ?? [];

describe('a request for a self-test', () => {
  test('makes a run, an event that starts it, an audit row and a ticket to follow it, all at once', async () => {
    const before = table.count();
    const { status, headers, body } = await ask(newId());
    expect(table.count() - before).toBe(1);
    expect(status).toBe(202);
    expect(headers['location']).toBe(`/api/v1/selftests/${body.id}`);

    const { event } = (await rowsIn(outboxKey(PLATFORM, '').pk)).at(-1) as { event: object };
    expect(event).toMatchObject({ type: 'selftest.requested', version: 1, data: { selftest_id: body.id } });
    const audit = (await rowsIn(auditKey(PLATFORM, '').pk)).at(-1);
    expect(audit).toMatchObject({
      action: 'selftest.request',
      subject: `selftest:${body.id}`,
      actor: expect.stringContaining('someone') as string,
    });
    const { Items: everything } = await dynamo().send(new ScanCommand({ TableName: controlTable() }));
    expect(JSON.stringify(everything)).not.toContain(body.ticket);
    expect(await redeemTicket(body.ticket ?? '', new Date())).toEqual({
      topic: 'events/platform',
      holder: { kind: 'platform_team', id: TEAM.id, everywhere: true },
    });
  });

  test('that is repeated makes no second run', async () => {
    const key = newId();
    const first = await ask(key);
    expect((await ask(key)).body).toEqual(first.body);
  });

  test('without an idempotency key is refused', async () => {
    await expect(requestSelftest.run(createContext('look-1'), request(undefined))).rejects.toMatchObject({
      code: 'idempotency.key_missing',
    });
  });

  test('leads a person on to the route a person may call', async () => {
    const { headers, body } = await ask(newId(), { kind: 'user', id: newId() });
    expect(headers['location']).toBe(`/api/v1/admin/selftests/${body.id}`);
  });
});

describe('a run', () => {
  test('is read by its id', async () => {
    const { body } = await ask(newId());
    const { ticket: _, socket_url: __, ...view } = body;
    const read = await getSelftest.run(createContext('look-1'), request(undefined, { selftest_id: body.id }));
    expect(read.body).toEqual(view);
  });

  test('that ends says so in an event and the audit, once, and keeps its first verdict', async () => {
    const { id } = (await ask(newId())).body;
    await beginSelftest(id, new Date());
    const ctx = createContext('look-1');
    const failed = { status: 'failed', failure: failureAt('answered', 'first', 'an ARN') } as const;
    expect(await concludeSelftest(ctx, id, () => ({ status: 'passed' }))).toBe('passed');
    expect(await concludeSelftest(ctx, id, () => failed)).toBe('passed');
    const found = await findSelftest(id);
    expect(found).toMatchObject({ status: 'passed' });
    expect(found?.failure).toBeUndefined();
    const told = (await rowsIn(outboxKey(PLATFORM, '').pk)).map(({ event }) => event as { data: object });
    expect(told.filter(({ data }) => 'status' in data && JSON.stringify(data).includes(id))).toMatchObject([
      { type: 'selftest.ended', data: { selftest_id: id, status: 'passed' } },
    ]);
  });

  test('that ends twice at the same moment has the verdict that came first', async () => {
    const { id } = (await ask(newId())).body;
    await beginSelftest(id, new Date());
    await commit([saveVerdict(id, { status: 'passed' }, new Date())]);
    const late = saveVerdict(
      id,
      { status: 'failed', failure: failureAt('answered', 'late', '') },
      new Date(),
    );
    await expect(commit([late])).rejects.toBeInstanceOf(Conflict);
    expect(await findSelftest(id)).toMatchObject({ status: 'passed' });
  });

  test('that fails tells where and by which code, and the rest to who may read the run', async () => {
    const { id } = (await ask(newId())).body;
    const failed = { status: 'failed', failure: failureAt('started', 'AccessDenied', 'an ARN') } as const;
    await concludeSelftest(createContext('look-1'), id, () => failed);
    const { event } = (await rowsIn(outboxKey(PLATFORM, '').pk)).at(-1) as { event: { data: object } };
    expect(event.data).toEqual({
      selftest_id: id,
      status: 'failed',
      failure: { hop: 'started', code: 'AccessDenied' },
    });
    expect((await findSelftest(id))?.failure?.detail).toBe('an ARN');
  });

  test('whose start was not written down has the time of its first step for it', async () => {
    const { id } = (await ask(newId())).body;
    const at = new Date('2026-11-20T12:00:00.000Z');
    await beginSelftest(id, at);
    expect((await findSelftest(id))?.hops).toMatchObject({
      streamed: at.toISOString(),
      started: at.toISOString(),
    });
  });

  test('that waits is rescued once, and one that runs never', async () => {
    const [waiting, running] = [(await ask(newId())).body.id, (await ask(newId())).body.id];
    expect(await markRescued(waiting, new Date())).toBe(true);
    expect(await markRescued(waiting, new Date())).toBe(false);
    await beginSelftest(running, new Date());
    expect(await markRescued(running, new Date())).toBe(false);
  });

  test('keeps the first time of a hop', async () => {
    const { id } = (await ask(newId())).body;
    await recordHop(id, 'streamed', new Date('2026-11-20T12:00:00.000Z'));
    await recordHop(id, 'streamed', new Date('2026-11-20T12:00:09.000Z'));
    expect((await findSelftest(id))?.hops['streamed']).toBe('2026-11-20T12:00:00.000Z');
  });

  test('nobody requested is not found', async () => {
    await expect(
      getSelftest.run(createContext('look-1'), request(undefined, { selftest_id: newId() })),
    ).rejects.toMatchObject({ code: 'selftest.unknown' });
  });
});
