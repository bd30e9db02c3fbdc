import { DeleteCommand, QueryCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEventTicket } from '../../functions/events/create-event-ticket.ts';
import type { EventPage } from '../../functions/events/event-view.ts';
import { listEvents } from '../../functions/events/list-events.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { type Context, createContext } from '../../functions/platform/context.ts';
import { insertOutbox } from '../../functions/platform/data/outbox.ts';
import { newId } from '../../functions/platform/ids.ts';
import { auditKey, feedKey } from '../../functions/platform/data/keys.ts';
import type { Request } from '../../functions/platform/http/request.ts';
import { controlTable } from '../../functions/platform/data/table.ts';
import { feedExpiry } from '../../functions/events/feed.ts';
import { putOnFeed } from '../../functions/events/feed-store.ts';
import { redeemTicket } from '../../functions/events/connection-store.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

let table: ControlTable;
let ctx: Context;

beforeAll(async () => {
  table = await startControlTable();
  process.env['SOCKET_URL'] = 'wss://socket.example.test/live';
});

beforeEach(() => {
  const project = {
    id: newId(),
    org_id: newId(),
    slug: 'p',
    name: 'P',
    status: 'active' as const,
    version: 1,
  };
  const actor = { kind: 'user' as const, id: newId(), email: 'a@example.com' };
  const grants = [{ role: 'viewer' as const, org_id: project.org_id, project_id: project.id }];
  ctx = { ...createContext('look-1'), project, actor, grants };
});

afterAll(() => table.stop());

const request = (change: Partial<Request>): Request => ({
  route: 'GET /api/v1/projects/{project_id}/events',
  params: { project_id: ctx.project?.id },
  query: {},
  bodyText: undefined,
  contentType: '',
  idempotencyKey: undefined,
  ifMatch: undefined,
  sourceIp: '192.0.2.1',
  ...change,
});

async function read(query: Record<string, string> = {}): Promise<EventPage> {
  const { body, status } = await listEvents.run(ctx, request({ query }));
  expect(status).toBe(200);
  return body as EventPage;
}

/** As the relay leaves them on the feed. */
async function happen(count: number): Promise<string[]> {
  const { id: project_id, org_id } = ctx.project ?? { id: '', org_id: '' };
  const events = Array.from({ length: count }, (_, index) => ({
    event_id: newId(),
    type: `a.b.n${index}`,
    version: 1,
    occurred_at: new Date().toISOString(),
    actor: 'user:u1',
    correlation_id: 'look-1',
    org_id,
    project_id,
    data: { index },
  }));
  await commit(events.map((event) => insertOutbox(event, new Date())));
  const ids = events.map(({ event_id }) => event_id);
  await putOnFeed(project_id, ids, () => new Date());
  return ids;
}

const idsOf = ({ items }: EventPage) => items.map(({ event_id }) => event_id);

describe('the events of a project', () => {
  test('are read in order, page by page, each page by one request', async () => {
    const ids = await happen(25);
    const seen: string[] = [];
    let page = await read({ limit: '10' });
    while (page.items.length > 0) {
      seen.push(...idsOf(page));
      const before = table.count();
      page = await read({ limit: '10', cursor: page.next_cursor });
      expect(table.count() - before).toBe(1);
    }
    expect(seen).toEqual(ids);
  });

  test('show what happened and to what, and nothing of how it is kept', async () => {
    const [id] = await happen(1);
    const { items } = await read();
    expect(items).toEqual([
      {
        event_id: id,
        sequence: 1,
        type: 'a.b.n0',
        version: 1,
        occurred_at: expect.any(String) as string,
        actor: 'user:u1',
        correlation_id: 'look-1',
        org_id: ctx.project?.org_id,
        project_id: ctx.project?.id,
        data: { index: 0 },
      },
    ]);
  });

  test('go on from the end with the cursor that was given there, also on an empty feed', async () => {
    const empty = await read();
    expect(empty).toEqual({ items: [], next_cursor: expect.any(String) as string });
    const first = await happen(2);
    const page = await read({ cursor: empty.next_cursor });
    expect(idsOf(page)).toEqual(first);
    expect((await read({ cursor: page.next_cursor })).next_cursor).toBe(page.next_cursor);
    const later = await happen(1);
    expect(idsOf(await read({ cursor: page.next_cursor }))).toEqual(later);
  });

  test('may begin later than the cursor, where the older ones have left the feed', async () => {
    const [, , third] = await happen(3);
    const { next_cursor: cursor } = await read({ limit: '1' });
    const place = ctx.project?.id ?? '';
    const TableName = controlTable();
    await dynamo().send(new DeleteCommand({ TableName, Key: feedKey(place, 2) }));
    // A hole in what was put there a moment ago may still be filled.
    expect(await read({ cursor })).toEqual({ items: [], next_cursor: cursor });
    await dynamo().send(
      new UpdateCommand({
        TableName,
        Key: feedKey(place, 3),
        UpdateExpression: 'SET expires_at = :long',
        ExpressionAttributeValues: { ':long': feedExpiry(new Date(Date.now() - 3600_000)) },
      }),
    );
    expect(idsOf(await read({ cursor }))).toEqual([third]);
  });

  test.each(['x', 'AAAA', Buffer.from('HEAD').toString('base64url'), Buffer.from('1').toString('base64url')])(
    'refuse a cursor that was not given out: %j',
    async (cursor) => {
      await expect(read({ cursor })).rejects.toMatchObject({
        code: 'request.invalid',
        faults: [{ pointer: '?/cursor' }],
      });
    },
  );

  test('refuse a limit beyond bounds and a parameter nobody knows', async () => {
    await expect(read({ limit: '101', since: 'now' })).rejects.toMatchObject({
      faults: [{ pointer: '?/limit' }, { pointer: '?/since' }],
    });
  });
});

describe('a ticket for the events', () => {
  const ask = (idempotencyKey: string | undefined) =>
    createEventTicket.run(
      ctx,
      request({ route: 'POST /api/v1/projects/{project_id}/events/tickets', idempotencyKey }),
    );
  const body = async (idempotencyKey: string) =>
    (await ask(idempotencyKey)).body as { ticket?: string; socket_url: string; expires_in: number };

  test('opens a connection that follows the project, once, for who asked for it', async () => {
    const { ticket = '', ...rest } = await body(newId());
    expect(rest).toEqual({ socket_url: 'wss://socket.example.test/live', expires_in: 300 });
    expect(await redeemTicket(ticket, new Date())).toEqual({
      topic: `events/${ctx.project?.id}`,
      org_id: ctx.project?.org_id,
      holder: { kind: 'user', id: ctx.actor.id, everywhere: false },
    });
    expect(await redeemTicket(ticket, new Date())).toBeUndefined();
  });

  test('says so when it is for an administrator of the whole platform', async () => {
    ctx = { ...ctx, grants: [{ role: 'platform_admin' }] };
    const { ticket = '' } = await body(newId());
    expect(await redeemTicket(ticket, new Date())).toMatchObject({ holder: { everywhere: true } });
  });

  test('is good for five minutes', async () => {
    const { ticket = '' } = await body(newId());
    expect(await redeemTicket(ticket, new Date(Date.now() + 301_000))).toBeUndefined();
  });

  test('needs an idempotency key, with which the same one is given again', async () => {
    await expect(ask(undefined)).rejects.toMatchObject({ code: 'idempotency.key_missing' });
    const key = newId();
    expect(await body(key)).toEqual(await body(key));
  });

  test('leaves one audit row and stands readable nowhere', async () => {
    const before = table.count();
    const { ticket = '' } = await body(newId());
    expect(table.count() - before).toBe(1);
    const { Items = [] } = await dynamo().send(
      new QueryCommand({
        TableName: controlTable(),
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': auditKey(ctx.project?.id ?? '', '').pk },
      }),
    );
    expect(Items).toHaveLength(1);
    expect(Items[0]).toMatchObject({ action: 'event.ticket.create', subject: `project:${ctx.project?.id}` });
    const { Items: everything } = await dynamo().send(new ScanCommand({ TableName: controlTable() }));
    expect(JSON.stringify(everything)).not.toContain(ticket);
  });
});
