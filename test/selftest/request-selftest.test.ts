import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../../functions/platform/actor.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { auditKey, outboxKey, PLATFORM } from '../../functions/platform/keys.ts';
import { controlTable } from '../../functions/platform/table.ts';
import { describeTopic } from '../../functions/socket/describe-topic.ts';
import { redeemTicket } from '../../functions/socket/store.ts';
import { getSelftest } from '../../functions/selftest/get-selftest.ts';
import { requestSelftest } from '../../functions/selftest/request-selftest.ts';
import type { SelftestView } from '../../functions/selftest/selftest.ts';
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
    expect(JSON.stringify([event, audit])).not.toContain(body.ticket);
    expect(await redeemTicket(body.ticket ?? '', new Date())).toEqual({ topic: `selftest/${body.id}` });
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
  test('is read by its id, and told to who begins to follow it', async () => {
    const { body } = await ask(newId());
    const { ticket: _, socket_url: __, ...view } = body;
    const read = await getSelftest.run(createContext('look-1'), request(undefined, { selftest_id: body.id }));
    expect(read.body).toEqual(view);
    expect(await describeTopic(`selftest/${body.id}`)).toEqual({ selftest: view });
  });

  test('nobody requested is not found, and a topic of another kind tells nothing', async () => {
    await expect(
      getSelftest.run(createContext('look-1'), request(undefined, { selftest_id: newId() })),
    ).rejects.toMatchObject({ code: 'selftest.unknown' });
    expect(await describeTopic(`selftest/${newId()}`)).toEqual({});
    expect(await describeTopic('weather/today')).toEqual({});
    expect(await describeTopic('constructor')).toEqual({});
  });
});
