import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyWebsocketEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readFeed } from '../../functions/events/event-store.ts';
import { dynamo, socketPosts } from '../../functions/platform/clients.ts';
import { controlTable } from '../../functions/platform/data/table.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { serviceAccountKey, userKey } from '../../functions/platform/data/keys.ts';
import { eventTopic } from '../../functions/events/keys.ts';
import { sequenceAt } from '../../functions/events/feed.ts';
import { handler as connect } from '../../functions/events/open-connection.ts';
import { handler as disconnect } from '../../functions/events/close-connection.ts';
import { issueTicket } from '../../functions/events/issue-ticket.ts';
import { handler as message } from '../../functions/events/receive-message.ts';
import { saveConnection, subscribe } from '../../functions/events/connection-store.ts';
import { connectionKey } from '../../functions/events/socket-keys.ts';
import { CONNECTIONS_MAX, type TicketHolder } from '../../functions/events/ticket.ts';
import { openRelayWorld, type RelayWorld } from './relay-world.ts';

let world: RelayWorld;
let place = { org_id: newId(), project_id: newId() };

beforeAll(async () => {
  process.stdout.write = () => true;
  world = await openRelayWorld();
});

beforeEach(() => {
  place = { org_id: newId(), project_id: newId() };
  world.forgetAuthorization();
});

afterAll(() => world.close());

const administrator = (): TicketHolder => ({ kind: 'user', id: newId(), everywhere: true });

async function issue(holder: TicketHolder): Promise<string> {
  const { org_id, project_id } = place;
  const ticket = issueTicket({ topic: eventTopic(project_id), org_id, holder }, new Date());
  await commit([ticket.write]);
  return ticket.secret;
}

/** What the gateway hears when a client comes with a ticket. */
async function knock(ticket: string, connectionId: string = newId()): Promise<number | undefined> {
  const requestContext = { connectionId } as APIGatewayProxyWebsocketEventV2['requestContext'];
  const queryStringParameters = { ticket };
  const answer = await connect({ requestContext, isBase64Encoded: false, queryStringParameters });
  expect(Object.keys(answer)).toEqual(['statusCode']);
  return answer.statusCode;
}

/** A connection of its own for a holder, as a client opens it. */
async function open(holder = administrator()): Promise<string> {
  const connectionId = newId();
  expect(await knock(await issue(holder), connectionId)).toBe(200);
  return connectionId;
}

async function close(connectionId: string): Promise<void> {
  const requestContext = { connectionId } as APIGatewayProxyWebsocketEventV2['requestContext'];
  await disconnect({ requestContext, isBase64Encoded: false });
}

async function send(connectionId: string, body: unknown): Promise<void> {
  await message({
    requestContext: { connectionId } as APIGatewayProxyWebsocketEventV2['requestContext'],
    isBase64Encoded: false,
    body: JSON.stringify(body),
  });
}

async function follow(holder?: TicketHolder): Promise<string> {
  const connectionId = await open(holder);
  await send(connectionId, { action: 'subscribe' });
  return connectionId;
}

async function happen(...types: string[]): Promise<string[]> {
  const ids = await world.say(place, ...types);
  expect(await world.deliver(await world.take())).toEqual([]);
  return ids;
}

const toldTo = (connectionId: string) =>
  world.posted.filter((each) => each.connectionId === connectionId).map((each) => each.message);
const eventsTo = (connectionId: string) =>
  toldTo(connectionId).flatMap(({ event }) => (event ? [event.event_id] : []));
const subscribedTo = (connectionId: string) =>
  toldTo(connectionId).findLast(({ type }) => type === 'subscribed') as unknown as {
    position: number;
    cursor: string;
  };

describe('who follows a project', () => {
  test('hears where the feed stands, then of every event, with its number and a cursor', async () => {
    const before = await happen('a.b.before', 'a.b.before');
    const connection = await follow();
    expect(subscribedTo(connection)).toMatchObject({ position: 2 });
    expect(sequenceAt(subscribedTo(connection).cursor)).toBe(2);

    const [id] = await happen('a.b.after');
    const told = toldTo(connection).find(({ type }) => type === 'event');
    expect(told).toMatchObject({ type: 'event', event: { event_id: id, sequence: 3, ...place } });
    expect(sequenceAt(told?.['cursor'] as string)).toBe(3);
    expect(eventsTo(connection)).not.toContain(before[0]);
  });

  test('reads by HTTP exactly what is pushed: the same events, the same order, the same numbers', async () => {
    const connection = await follow();
    await happen('a.b.one', 'a.b.two');
    await happen('a.b.three');
    const pushed = toldTo(connection).flatMap(({ event }) => (event ? [event] : []));
    expect(await readFeed(place.project_id, 0, 100, new Date())).toEqual(pushed);
  });

  test('hears nothing of another project', async () => {
    const connection = await follow();
    await world.say({ ...place, project_id: newId() }, 'a.b.elsewhere');
    await happen('a.b.here');
    expect(eventsTo(connection)).toHaveLength(1);
  });

  test('misses nothing, whenever they subscribe: what was not pushed stands before the position', async () => {
    const told: string[] = [];
    const followers: string[] = [];
    let isOver = false;
    const happening = (async () => {
      for (let round = 0; round < 15 || followers.length < 4; round += 1)
        told.push(...(await happen('a.b.c', 'a.b.d')));
      isOver = true;
    })();
    while (!isOver) followers.push(await follow());
    await happening;
    for (const follower of followers) {
      const { position } = subscribedTo(follower);
      const read = position === 0 ? [] : await readFeed(place.project_id, 0, position, new Date());
      const known = new Set([...read.map(({ event_id }) => event_id), ...eventsTo(follower)]);
      expect(told.filter((id) => !known.has(id))).toEqual([]);
      expect(eventsTo(follower)).toEqual(told.filter((id) => eventsTo(follower).includes(id)));
    }
  });

  test('finds before their position what happens while they are being listed', async () => {
    const connection = await open();
    let between: string[] | undefined;
    dynamo().middlewareStack.add(
      (next) => async (args) => {
        const { Item } = args.input as { Item?: { pk?: unknown } };
        if (String(Item?.pk).startsWith('TOPIC#')) between ??= await happen('a.b.between');
        return next(args);
      },
      { step: 'initialize', name: 'between' },
    );
    await send(connection, { action: 'subscribe' });
    dynamo().middlewareStack.remove('between');
    expect(between).toHaveLength(1);
    expect(eventsTo(connection)).toEqual([]);
    expect(subscribedTo(connection)).toMatchObject({ position: 1 });
  });

  test('is one of many, and all of them hear of it', async () => {
    const topic = eventTopic(place.project_id);
    const followers = Array.from({ length: 201 }, () => newId());
    // Not all at once: a busy machine would turn some of the connections away.
    const left = [...followers];
    const subscribeNext = async (): Promise<void> => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        await world.put({ ...userKey(id), grants: [{ role: 'viewer', ...place }] });
        await subscribe(id, { topic, holder: { kind: 'user', id, everywhere: false } }, new Date());
      }
    };
    await Promise.all(Array.from({ length: 8 }, subscribeNext));
    let underWay = 0;
    let underWayMax = 0;
    socketPosts().middlewareStack.add(
      (next) => async (args) => {
        underWayMax = Math.max(underWayMax, (underWay += 1));
        return next(args).finally(() => (underWay -= 1));
      },
      { step: 'initialize', name: 'underWay' },
    );
    const [id] = await happen('a.b.c');
    socketPosts().middlewareStack.remove('underWay');
    expect(followers.filter((follower) => eventsTo(follower)[0] !== id)).toEqual([]);
    // The client has no more connections, and does not wait long for one of them to be free.
    expect(underWayMax).toBeLessThanOrEqual(50);
  });

  test('is told nothing, and cannot subscribe, after the time in which the gateway closes a connection', async () => {
    const admission = { topic: eventTopic(place.project_id), holder: administrator() };
    const longAgo = new Date(Date.now() - 3 * 3600_000);
    const [late, later] = [newId(), newId()];
    await subscribe(late, admission, longAgo);
    await saveConnection(later, admission, longAgo);
    await happen('a.b.c');
    await send(later, { action: 'subscribe' });
    expect(eventsTo(late)).toEqual([]);
    expect(toldTo(later)).toMatchObject([{ type: 'problem', problem: { code: 'connection.unknown' } }]);
  });

  test('hears nothing on a connection that is nobody’s', async () => {
    const connection = newId();
    const admission = { topic: eventTopic(place.project_id) };
    await saveConnection(connection, admission, new Date());
    await send(connection, { action: 'subscribe' });
    await subscribe(connection, admission, new Date());
    await happen('a.b.c');
    expect(eventsTo(connection)).toEqual([]);
  });

  test('may subscribe again to learn whether they missed something', async () => {
    const connection = await follow();
    await happen('a.b.c');
    await send(connection, { action: 'subscribe' });
    expect(subscribedTo(connection)).toMatchObject({ position: 1 });
    await happen('a.b.d');
    expect(eventsTo(connection)).toHaveLength(2);
  });

  test('is forgotten after they left, with or without a word', async () => {
    const [polite, lost] = [await follow(), await follow()];
    await close(polite);
    world.gone.add(lost);
    await happen('a.b.c');
    world.gone.delete(lost);
    await happen('a.b.d');
    await send(lost, { action: 'subscribe' });
    expect([...eventsTo(polite), ...eventsTo(lost)]).toEqual([]);
    expect(toldTo(lost).at(-1)).toMatchObject({ type: 'problem', problem: { code: 'connection.unknown' } });
  });

  test('and cannot be told holds up nobody, and finds the gap when they subscribe again', async () => {
    const [well, unwell] = [await follow(), await follow()];
    world.broken.add(unwell);
    const ids = await happen('a.b.c', 'a.b.d');
    expect(eventsTo(well)).toEqual(ids);
    world.broken.delete(unwell);
    expect(eventsTo(unwell)).toEqual([]);
    await send(unwell, { action: 'subscribe' });
    expect(subscribedTo(unwell)).toMatchObject({ position: 2 });
    await happen('a.b.e');
    expect(eventsTo(unwell)).toHaveLength(1);
  });

  test('sends something else and is told what was wrong', async () => {
    const connection = await open();
    await send(connection, { action: 'shout' });
    expect(toldTo(connection).at(-1)).toMatchObject({
      type: 'problem',
      problem: { code: 'message.invalid' },
    });
  });
});

/** What the table knows of a connection. */
async function rowsOf(connectionId: string): Promise<string[]> {
  const { Items = [] } = await dynamo().send(
    new ScanCommand({ TableName: controlTable(), ConsistentRead: true }),
  );
  return Items.filter((item) =>
    `${item['pk']} ${item['sk']} ${[...((item['connections'] ?? []) as Set<string>)].join()}`.includes(
      connectionId,
    ),
  ).map(({ pk }) => String(pk));
}

describe('who opens many connections', () => {
  test('gets so many, also when they come all at once, and leaves room for others', async () => {
    const greedy = administrator();
    const ids = Array.from({ length: CONNECTIONS_MAX + 8 }, () => newId());
    const answers = await Promise.all(ids.map(async (id) => knock(await issue(greedy), id)));
    const refused = ids.filter((_, index) => answers[index] === 429);
    expect(answers.filter((status) => status === 200)).toHaveLength(CONNECTIONS_MAX);
    expect(refused).toHaveLength(8);
    for (const id of refused) expect(await rowsOf(id)).toEqual([]);

    await send(refused[0] ?? '', { action: 'subscribe' });
    expect(toldTo(refused[0] ?? '').at(-1)).toMatchObject({ problem: { code: 'connection.unknown' } });
    expect(await knock(await issue(administrator()))).toBe(200);
  });

  test.each<[string, (connection: string) => Promise<unknown>]>([
    ['is closed', close],
    [
      'is found gone when something happens',
      async (connection) => {
        await send(connection, { action: 'subscribe' });
        world.gone.add(connection);
        await happen('a.b.c');
      },
    ],
    [
      'is found gone when it is answered',
      async (connection) => {
        world.gone.add(connection);
        await send(connection, { action: 'subscribe' });
      },
    ],
    [
      'ended without a word',
      (connection) =>
        dynamo().send(new DeleteCommand({ TableName: controlTable(), Key: connectionKey(connection) })),
    ],
  ])('can open another one as soon as one of them %s', async (_, end) => {
    const busy = administrator();
    const connections = await Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => open(busy)));
    expect(await knock(await issue(busy))).toBe(429);
    await end(connections[0] ?? '');
    expect(await knock(await issue(busy))).toBe(200);
    expect(await knock(await issue(busy))).toBe(429);
  });

  test('has one subscription on each, however often they subscribe', async () => {
    const connection = await follow();
    await Promise.all([1, 2, 3].map(() => send(connection, { action: 'subscribe' })));
    await happen('a.b.c');
    expect(eventsTo(connection)).toHaveLength(1);
  });
});

describe('who may no longer read the events', () => {
  const member = (): TicketHolder => ({ kind: 'user', id: newId(), everywhere: false });
  const account = (): TicketHolder => ({ kind: 'service_account', id: newId(), everywhere: false });
  const grants = (...roles: object[]) => ({ grants: roles });
  const saveUser = ({ id }: TicketHolder, ...roles: object[]) =>
    world.put({ ...userKey(id), ...grants(...roles) });
  const forgetUser = ({ id }: TicketHolder) =>
    dynamo().send(new DeleteCommand({ TableName: controlTable(), Key: userKey(id) }));
  const saveAccount = ({ id }: TicketHolder, status: string, role = 'viewer') =>
    world.put({ ...serviceAccountKey(id), ...place, role, status });

  test.each<
    [
      string,
      () => TicketHolder,
      (holder: TicketHolder) => Promise<void>,
      (holder: TicketHolder) => Promise<void>,
    ]
  >([
    [
      'a member who was removed',
      member,
      (holder) => saveUser(holder, { role: 'viewer', ...place }),
      (holder) => saveUser(holder),
    ],
    [
      'a member whose role has become less',
      member,
      (holder) => saveUser(holder, { role: 'org_admin', org_id: place.org_id }),
      (holder) => saveUser(holder, { role: 'app', ...place }),
    ],
    [
      'a service account that was disabled',
      account,
      (holder) => saveAccount(holder, 'active'),
      (holder) => saveAccount(holder, 'disabled'),
    ],
    [
      'a service account of another project',
      account,
      (holder) => saveAccount(holder, 'active'),
      (holder) =>
        world.put({
          ...serviceAccountKey(holder.id),
          org_id: place.org_id,
          project_id: newId(),
          role: 'viewer',
          status: 'active',
        }),
    ],
  ])('%s is told no more, and cannot subscribe again', async (_, make, give, take) => {
    const holder = make();
    await give(holder);
    const [connection, other] = [await follow(holder), await follow()];
    await happen('a.b.c');
    expect(eventsTo(connection)).toHaveLength(1);

    await take(holder);
    world.forgetAuthorization();
    await happen('a.b.d');
    expect(eventsTo(connection)).toHaveLength(1);
    expect(eventsTo(other)).toHaveLength(2);
    expect(await rowsOf(connection)).toEqual([]);
    await send(connection, { action: 'subscribe' });
    expect(toldTo(connection).at(-1)).toMatchObject({
      type: 'problem',
      problem: { code: 'connection.unknown' },
    });
  });

  test.each<[string, () => TicketHolder, (holder: TicketHolder) => Promise<unknown>]>([
    ['a member who left', member, (holder) => saveUser(holder)],
    ['somebody nobody knows any more', member, (holder) => forgetUser(holder)],
    ['a service account that is disabled', account, (holder) => saveAccount(holder, 'disabled')],
  ])(
    'is told with a ticket from before what a stranger is told, and on an open connection nothing: %s',
    async (_, make, take) => {
      const holder = make();
      await (holder.kind === 'user'
        ? saveUser(holder, { role: 'viewer', ...place })
        : saveAccount(holder, 'active'));
      await happen('a.b.secret');
      const [ticket, connection] = [await issue(holder), await open(holder)];
      await take(holder);
      world.forgetAuthorization();

      expect(await knock(ticket)).toBe(await knock('x'.repeat(43)));
      await send(connection, { action: 'subscribe' });
      await send(newId(), { action: 'subscribe' });
      const [told, stranger] = world.posted.slice(-2).map(({ message: { problem } }) => problem as object);
      expect({ ...told, correlation_id: '' }).toEqual({ ...stranger, correlation_id: '' });
      expect(toldTo(connection)).toHaveLength(1);
      expect(await rowsOf(connection)).toEqual([]);
    },
  );

  test('is somebody else than who was let in a moment ago: what is given works at once', async () => {
    const holder = member();
    await saveUser(holder);
    expect(await knock(await issue(holder))).toBe(401);
    await saveUser(holder, { role: 'viewer', ...place });
    expect(await knock(await issue(holder))).toBe(200);
  });

  test('costs no read while what is known of them is fresh', async () => {
    const holder = member();
    await saveUser(holder, { role: 'viewer', ...place });
    await Promise.all([follow(holder), follow(holder), follow(holder)]);
    await happen('a.b.c');
    await world.say(place, 'a.b.d');
    const records = await world.take();
    const before = world.calls();
    await world.handler({ Records: records });
    // The feed's two, the followers, three posts, the bus, and how far it was told.
    expect(world.calls() - before).toBe(2 + 1 + 3 + 1 + 1);
  });
});
