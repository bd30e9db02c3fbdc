import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { faultsOf } from '../asyncapi-messages.ts';
import { until } from '../until.ts';
import {
  type Asked,
  call,
  createAccount,
  createPlace,
  createProject,
  done,
  join,
  mint,
  type Person,
  type Place,
  rolesToBeKnown,
} from './people.ts';
import { findShownSecrets, readBus } from './planted-secrets.ts';
import { AUTHORIZATION_CACHE_SECONDS } from './platform-copy.ts';

interface FeedEvent {
  event_id: string;
  sequence: number;
  type: string;
  project_id: string;
  correlation_id: string;
  data: Record<string, unknown>;
}

interface Pushed {
  type: 'event';
  event: FeedEvent;
  cursor: string;
}

const CHANGES = 30;
const SECONDS_MAX = 90;

let place: Place;
let viewerId: string;
const projectPath = () => `/api/v1/projects/${place.project_id}`;

beforeAll(async () => {
  place = await createPlace('events');
  viewerId = await join('viewer', { ...place, role: 'viewer' });
  await rolesToBeKnown();
  const isTold = async () => (await readFeed()).events.some(({ type }) => type === 'identity.member.added');
  await until(isTold, 'all of this to be told');
});

async function ticketOf(who: Asked): Promise<{ ticket: string; socket_url: string }> {
  return done('POST', `${projectPath()}/events/tickets`, who);
}

function opens(url: string): Promise<WebSocket | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.addEventListener('open', () => resolve(socket));
    socket.addEventListener('error', () => resolve(undefined));
  });
}

interface Listener {
  pushed: Pushed[];
  /** Where the feed stood when listening began. */
  position: number;
  close(): void;
}

/** Gets a ticket, opens a socket with it and subscribes. */
async function listen(who: Asked): Promise<Listener> {
  const { ticket, socket_url } = await ticketOf(who);
  const socket = await opens(`${socket_url}?ticket=${ticket}`);
  if (!socket) throw new Error('The ticket did not open a socket.');
  onTestFinished(() => socket.close());
  const pushed: Pushed[] = [];
  let position: number | undefined;
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Pushed | { type: 'subscribed'; position: number };
    if (message.type === 'subscribed') position = message.position;
    // What is pushed again is known by its number.
    else if (!pushed.some(({ event }) => event.sequence === message.event.sequence)) pushed.push(message);
  });
  socket.send(JSON.stringify({ action: 'subscribe' }));
  return {
    pushed,
    position: await until(() => position, 'the subscription'),
    close: () => socket.close(),
  };
}

/** All events after a cursor, in pages of a few. */
async function readFeed(
  cursor?: string,
  as: Person = 'viewer',
): Promise<{ events: FeedEvent[]; cursor: string }> {
  const events: FeedEvent[] = [];
  for (let next = cursor; ;) {
    const query = new URLSearchParams({ limit: '7', ...(next !== undefined && { cursor: next }) });
    const page: { items: FeedEvent[]; next_cursor: string } = await done(
      'GET',
      `${projectPath()}/events?${query.toString()}`,
      { as },
    );
    events.push(...page.items);
    if (page.items.length === 0) return { events, cursor: page.next_cursor };
    next = page.next_cursor;
  }
}

let changed = 0;

/** One thing more that happens in the project: of its own kind, or beside others at the same moment. */
async function change(): Promise<void> {
  const number = (changed += 1);
  if (number % 2 === 0) await createAccount(place.project_id, `robot-${number}`);
  else await done('PATCH', projectPath(), { as: 'admin', body: { name: `Name ${number}` } });
}

async function changeSome(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 2) await Promise.all(left > 1 ? [change(), change()] : [change()]);
}

const numbers = (events: { sequence: number }[]) => events.map(({ sequence }) => sequence);
const eventsOf = (pushed: Pushed[]) => pushed.map(({ event }) => event);
const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

describe('a subscription', () => {
  test(
    `hears of ${CHANGES} changes as the feed tells them: in order and without gap`,
    async () => {
      const { cursor } = await readFeed();
      const listener = await listen({ as: 'viewer' });
      await changeSome(CHANGES);
      const { pushed, position } = listener;
      await until(() => pushed.length >= CHANGES, `${CHANGES} events, and not ${pushed.length}`);

      const { events } = await readFeed(cursor);
      expect(eventsOf(pushed)).toEqual(events);
      expect(numbers(events)).toEqual(upTo(position + 1, position + CHANGES));
      expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(CHANGES);
      expect(new Set(events.map(({ project_id }) => project_id))).toEqual(new Set([place.project_id]));
    },
    SECONDS_MAX * 1000,
  );

  test(
    'that drops in the middle is resumed from the cursor, with nothing lost and nothing twice',
    async () => {
      const first = await listen({ as: 'viewer' });
      const { events: before } = await readFeed();
      const half = changeSome(CHANGES / 2);
      await until(() => first.pushed.length >= 5, 'the first events');
      first.close();
      await half;
      const seen = [...before, ...eventsOf(first.pushed)];
      const last = first.pushed.at(-1) as Pushed;

      // While nobody listens, and while the second socket is being opened, things go on.
      const other = changeSome(CHANGES / 2);
      const second = await listen({ as: 'viewer' });
      const missed: FeedEvent[] = [];
      let { cursor } = last;
      await until(async () => {
        const read = await readFeed(cursor);
        missed.push(...read.events);
        cursor = read.cursor;
        return (missed.at(-1)?.sequence ?? last.event.sequence) >= second.position;
      }, 'what came before the subscription');
      await other;
      const end = last.event.sequence - first.pushed.length + CHANGES;
      await until(
        () => missed.at(-1)?.sequence === end || second.pushed.at(-1)?.event.sequence === end,
        'the last event',
      );
      seen.push(...missed);
      // What was both read and pushed is known by its number.
      const fresh = eventsOf(second.pushed).filter(({ sequence }) => sequence > (seen.at(-1)?.sequence ?? 0));
      seen.push(...fresh);

      expect(seen).toEqual((await readFeed()).events);
      expect(numbers(seen)).toEqual(upTo(1, end));
      // What came after the position the socket was told at is pushed whole.
      const after = eventsOf(second.pushed).filter(({ sequence }) => sequence > second.position);
      expect(numbers(after)).toEqual(upTo(second.position + 1, end));
    },
    SECONDS_MAX * 1000,
  );

  test('is told by the bus too, in the same order', async () => {
    const { events } = await readFeed();
    const onBus = () =>
      readBus()
        .map(({ text }) => (JSON.parse(text) as { detail: FeedEvent }).detail)
        .filter(({ project_id }) => project_id === place.project_id);
    await until(() => onBus().length >= events.length, 'the bus to have heard all');
    expect(onBus()).toEqual(events);
  });

  test('is told as the AsyncAPI document says, over the socket and on the bus', async () => {
    const { pushed } = await listen({ as: 'viewer' });
    await change();
    await until(() => pushed.length > 0, 'the event');
    for (const told of pushed) expect(faultsOf('messages/event/payload', told)).toEqual([]);
    // All that was said by now, by whichever test of this platform.
    for (const { text } of readBus()) {
      const { detail, ...around } = JSON.parse(text) as { detail: FeedEvent };
      expect(faultsOf('schemas/BusHeaders', around)).toEqual([]);
      expect(faultsOf(`schemas/${detail.type}`, detail)).toEqual([]);
    }
  });

  test('that does not understand itself is told, and goes on', async () => {
    const { ticket, socket_url } = await ticketOf({ as: 'viewer' });
    const socket = (await opens(`${socket_url}?ticket=${ticket}`)) as WebSocket;
    onTestFinished(() => socket.close());
    const heard: { type: string; problem?: { code: string } }[] = [];
    socket.addEventListener('message', ({ data }) =>
      heard.push(JSON.parse(String(data)) as (typeof heard)[0]),
    );
    socket.send('{"action":"listen"}');
    await until(() => heard.length === 1, 'the refusal');
    socket.send('{"action":"subscribe"}');
    await until(() => heard.length === 2, 'the subscription');
    expect(heard).toMatchObject([
      { type: 'problem', problem: { code: 'message.invalid' } },
      { type: 'subscribed' },
    ]);
    for (const told of heard) expect(faultsOf(`messages/${told.type}/payload`, told)).toEqual([]);
  });
});

describe('a ticket', () => {
  test('opens one socket, once', async () => {
    const { ticket, socket_url } = await ticketOf({ as: 'viewer' });
    const socket = await opens(`${socket_url}?ticket=${ticket}`);
    expect(socket).toBeDefined();
    expect(await opens(`${socket_url}?ticket=${ticket}`)).toBeUndefined();
    socket?.close();
    expect(await opens(`${socket_url}?ticket=${ticket}`)).toBeUndefined();
  });

  test('is needed, and must be one', async () => {
    const { socket_url } = await ticketOf({ as: 'viewer' });
    for (const query of [
      '',
      '?ticket=',
      `?ticket=${'x'.repeat(43)}`,
      `?ticket=${'x'.repeat(5_000)}`,
      '?ticket=%',
    ])
      expect(await opens(socket_url + query)).toBeUndefined();
  });

  test('is given for one’s own project, and for no other', async () => {
    const sibling = await createProject(place.org_id, `sibling-${place.project_id.slice(-8)}`);
    const ask = (as: Person, project = place.project_id) =>
      call('POST', `/api/v1/projects/${project}/events/tickets`, { as });
    expect(await ask('viewer')).toMatchObject({ status: 201, body: { expires_in: 300 } });
    const unknown = { status: 404, body: { code: 'project.unknown' } };
    expect(await ask('outsider')).toMatchObject(unknown);
    expect(await ask('viewer', sibling)).toMatchObject(unknown);
    expect(await call('GET', `${projectPath()}/events`, { as: 'outsider' })).toMatchObject(unknown);
  });
});

describe('who may no longer read the events', () => {
  test(
    'hears nothing more, as soon as nobody remembers the right, though the socket is open',
    async () => {
      const account = await createAccount(place.project_id, 'ears');
      const { access_token: token } = (await mint(account)).body;
      const gone = [await listen({ as: 'viewer' }), await listen({ token })];
      const remaining = await listen({ as: 'admin' });
      await change();
      await until(() => [...gone, remaining].every(({ pushed }) => pushed.length > 0), 'all to hear');

      await done('DELETE', `${projectPath()}/members/${viewerId}`, { as: 'admin' });
      await done('POST', `${projectPath()}/service-accounts/${account.id}/disable`, { as: 'admin' });
      await wait(AUTHORIZATION_CACHE_SECONDS * 1000);
      // By now the one who stays has heard of both.
      const [last] = (await readFeed(undefined, 'admin')).events.slice(-1);
      await until(() => remaining.pushed.at(-1)?.event.sequence === last?.sequence, 'what came before');
      const heard = remaining.pushed.length;
      const told = gone.map(({ pushed }) => pushed.length);
      await change();
      await change();
      await until(() => remaining.pushed.length >= heard + 2, 'the one who stays to hear');
      expect(gone.map(({ pushed }) => pushed.length)).toEqual(told);
      expect(await call('GET', `${projectPath()}/events`, { as: 'viewer' })).toMatchObject({ status: 404 });
    },
    SECONDS_MAX * 1000,
  );
});

test('nothing secret of all this can be read in a log, an event or an item', async () => {
  expect(await findShownSecrets()).toEqual([]);
});
