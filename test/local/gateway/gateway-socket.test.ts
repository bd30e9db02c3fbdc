import { connect as connectRaw } from 'node:net';
import {
  ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GetConnectionCommand,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi, type MockInstance } from 'vitest';
import { ACCOUNT, REGION } from '../../../lib/local/wire/aws.ts';
import { until } from '../../until.ts';
import { failure } from '../services/aws-services-world.ts';
import { GatewayWorld, type Client } from './gateway-world.ts';
import { allow } from '../lambda/hosted-world.ts';
import { type Recorder } from '../lambda/lambda-world.ts';

interface SocketEvent {
  body?: string;
  headers?: Record<string, string>;
  queryStringParameters?: Record<string, string>;
  multiValueQueryStringParameters?: Record<string, string[]>;
  requestContext: {
    routeKey: string;
    eventType: string;
    connectionId: string;
    disconnectStatusCode?: number;
  };
}

const KILOBYTE = 1024;
const ok = { statusCode: 200 };

let world: GatewayWorld;
let output: MockInstance<typeof process.stdout.write>;
let apis = 0;

beforeAll(async () => {
  world = await new GatewayWorld().open();
  output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});

beforeEach(() => {
  output.mockClear();
});

afterAll(async () => {
  output?.mockRestore();
  await world?.close();
});

/** A WebSocket API of its own for a test. */
function newApi(routes: Record<string, Parameters<GatewayWorld['route']>[2]>) {
  const id = `api${apis++}`;
  world.api({ id, protocol: 'WEBSOCKET' });
  const made = Object.entries(routes).map(([key, options]) => [key, world.route(id, key, options)] as const);
  return { id, path: `/_apis/${id}/live`, functions: Object.fromEntries(made) };
}

async function open(path: string): Promise<Client> {
  const client = await world.connect(path);
  if ('refused' in client) throw new Error(`Refused with ${client.refused}.`);
  return client;
}

const eventsOf = (target: Recorder | undefined) =>
  target?.invocations<SocketEvent>().map(({ event }) => event) ?? [];
const bodiesOf = (target: Recorder | undefined) => eventsOf(target).map(({ body }) => body);
const connectionIdOf = (target: Recorder | undefined) =>
  eventsOf(target).at(-1)?.requestContext.connectionId ?? '';

describe('connecting', () => {
  test('invokes $connect with the headers and query of the request', async () => {
    const { path, functions } = newApi({ $connect: { answer: ok } });
    await open(`${path}?ticket=a%20b&topic=1&topic=2`);
    const [event] = eventsOf(functions['$connect']);
    expect(event).toMatchObject({
      headers: { upgrade: 'websocket', host: new URL(world.endpoint).host },
      queryStringParameters: { ticket: 'a b' },
      multiValueQueryStringParameters: { topic: ['1', '2'] },
      requestContext: {
        routeKey: '$connect',
        eventType: 'CONNECT',
        connectionId: expect.stringMatching(/^[\w-]{12}$/),
        stage: 'live',
        requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      },
    });
  });

  test('needs no $connect route', async () => {
    const { path } = newApi({});
    await open(path);
  });

  test.each([
    ['what the function says', { answer: { statusCode: 401 } }, 401],
    ['403', { answer: { statusCode: 403 } }, 403],
    ['502 when the function fails', { environment: { FAIL_ON: 'CONNECT' } }, 502],
    ['502 when its answer is none', { answer: { statusCode: 'yes' } }, 502],
    ['502 when it answers nothing', {}, 502],
    ['502 when it is throttled', { spec: { reservedConcurrency: 0 } }, 502],
    ['502 when the gateway may not invoke it', { answer: ok, isPermitted: false }, 502],
  ])('is refused with %s', async (_what, $connect, refused) => {
    const { path } = newApi({ $connect });
    expect(await world.connect(path)).toEqual({ refused });
  });

  test.each(['/_apis/nothing/live', '/', '//', '/%zz', '/_apis'])(
    'is refused with 404 at %s',
    async (path) => {
      expect(await upgradeStatus(path)).toBe(404);
    },
  );

  test('is refused at another stage', async () => {
    const { id } = newApi({});
    expect(await world.connect(`/_apis/${id}/test`)).toEqual({ refused: 404 });
  });

  test('is not asked of the function when the handshake is none', async () => {
    const { path, functions } = newApi({ $connect: { answer: ok } });
    expect(await upgradeStatus(path, 'sec-websocket-version: 1\r\n')).toBe(400);
    expect(eventsOf(functions['$connect'])).toEqual([]);
  });

  test('speaks a subprotocol only if the function chose it', async () => {
    const chosen = { ...ok, headers: { 'Sec-WebSocket-Protocol': 'v2' } };
    const { path } = newApi({ $connect: { answer: chosen } });
    const client = await world.connect(path, { protocols: ['v1', 'v2'] });
    expect('socket' in client && client.socket.protocol).toBe('v2');
    const silent = newApi({ $connect: { answer: ok } });
    await expect(world.connect(silent.path, { protocols: ['v1'] })).rejects.toThrow('subprotocol');
  });
});

describe('messages', () => {
  test('go to the route their action names, others to $default', async () => {
    const { path, functions } = newApi({ subscribe: {}, $default: {}, $connect: { answer: ok } });
    const client = await open(path);
    const others = [
      '{"action":"unknown"}',
      '{"action":7}',
      '{"action":"$connect"}',
      'null',
      '[]',
      'not json',
      '{"__proto__":{"action":"subscribe"}}',
    ];
    client.send({ action: 'subscribe', topic: 'a' });
    for (const other of others) client.send(other);
    await until(() => eventsOf(functions['$default']).length === others.length);
    expect(bodiesOf(functions['subscribe'])).toEqual(['{"action":"subscribe","topic":"a"}']);
    expect(bodiesOf(functions['$default'])).toEqual(others);
    expect(eventsOf(functions['$connect'])).toHaveLength(1);
    expect(eventsOf(functions['subscribe'])[0]?.requestContext).toMatchObject({
      routeKey: 'subscribe',
      eventType: 'MESSAGE',
      connectionId: connectionIdOf(functions['$connect']),
    });
  });

  test('without a route are forbidden', async () => {
    const client = await open(newApi({}).path);
    client.send({ action: 'anything' });
    expect(JSON.parse(await client.next())).toEqual({
      message: 'Forbidden',
      connectionId: expect.any(String),
      requestId: expect.any(String),
    });
  });

  test('of one connection arrive in the order they were sent', async () => {
    const { path, functions } = newApi({ $default: { environment: { HANG: '5' } } });
    const client = await open(path);
    const sent = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    for (const message of sent) client.send(message);
    await until(() => bodiesOf(functions['$default']).length === sent.length);
    expect(bodiesOf(functions['$default'])).toEqual(sent);
  });

  test('a function that fails is told to the client, which may go on', async () => {
    const { path, functions } = newApi({ $default: { environment: { FAIL_ON: 'poison' } } });
    const client = await open(path);
    client.send('poison');
    expect(JSON.parse(await client.next())).toMatchObject({ message: 'Internal server error' });
    client.send('food');
    await until(() => bodiesOf(functions['$default']).includes('food'));
    expect(client.received).toEqual([]);
  });

  test('over 128 kB end the connection', async () => {
    const { path, functions } = newApi({ $default: {} });
    const client = await open(path);
    client.send('x'.repeat(128 * KILOBYTE));
    await until(() => bodiesOf(functions['$default']).length === 1);
    client.send('x'.repeat(128 * KILOBYTE + 1));
    expect(await client.ended()).toMatchObject({ code: 1009 });
    expect(bodiesOf(functions['$default'])).toHaveLength(1);
  });

  test('follow the template when it changes under the connection', async () => {
    const { id, path, functions } = newApi({ $default: {} });
    const client = await open(path);
    const added = world.route(id, 'later', {});
    client.send({ action: 'later' });
    await until(() => eventsOf(added).length === 1);
    expect(eventsOf(functions['$default'])).toEqual([]);
  });
});

describe('leaving', () => {
  test.each([
    ['closes', (client: Client) => client.socket.close(4001, 'done'), 4001],
    ['is cut off', (client: Client) => client.socket.terminate(), 1006],
  ])('a client that %s is told to $disconnect', async (_how, leave, code) => {
    const { path, functions } = newApi({ $connect: { answer: ok }, $disconnect: {} });
    leave(await open(path));
    const [event] = await until(
      () => eventsOf(functions['$disconnect']).length > 0 && eventsOf(functions['$disconnect']),
    );
    expect(event?.requestContext).toMatchObject({
      routeKey: '$disconnect',
      eventType: 'DISCONNECT',
      connectionId: connectionIdOf(functions['$connect']),
      disconnectStatusCode: code,
    });
  });

  test('a client that leaves while $connect still runs is disconnected as well', async () => {
    const { path, functions } = newApi({
      $connect: { environment: { HANG: '300' }, answer: ok },
      $disconnect: {},
    });
    const socket = connectRaw(Number(new URL(world.endpoint).port), '127.0.0.1');
    socket.write(handshake(path));
    await until(() => eventsOf(functions['$connect']).length === 1);
    socket.destroy();
    await until(() => eventsOf(functions['$disconnect']).length === 1);
    expect(connectionIdOf(functions['$disconnect'])).toBe(connectionIdOf(functions['$connect']));
  });

  test('a gateway that closes tells every function before it is done', async () => {
    const own = await new GatewayWorld().open();
    own.api({ id: 'own', protocol: 'WEBSOCKET' });
    const $disconnect = own.route('own', '$disconnect', { environment: { HANG: '50' } });
    const clients = await Promise.all([own.connect('/_apis/own/live'), own.connect('/_apis/own/live')]);
    await own.sockets.close();
    expect(eventsOf($disconnect)).toHaveLength(2);
    for (const client of clients) if ('ended' in client) await client.ended();
    await own.close();
  });
});

describe('@connections', () => {
  const manage = (apiId: string, method: string) =>
    allow(
      ['execute-api:ManageConnections'],
      `arn:aws:execute-api:${REGION}:${ACCOUNT}:${apiId}/live/${method}/@connections/*`,
    );
  const everything = (apiId: string) => [manage(apiId, '*')];
  const clientOf = (apiId: string, allowed: ReturnType<typeof allow>[]) =>
    new ApiGatewayManagementApiClient({
      ...world.as(allowed),
      endpoint: `${world.endpoint}/_apis/${apiId}/live`,
    });

  async function connected() {
    const { id, path, functions } = newApi({ $connect: { answer: ok }, $disconnect: {} });
    const client = await open(path);
    return { id, client, functions, ConnectionId: connectionIdOf(functions['$connect']) };
  }

  test('a message is pushed to the client it names', async () => {
    const { id, client, ConnectionId } = await connected();
    await clientOf(id, everything(id)).send(
      new PostToConnectionCommand({ ConnectionId, Data: '{"news":"ü"}' }),
    );
    expect(await client.next()).toBe('{"news":"ü"}');
  });

  test('a connection can be looked at and ended', async () => {
    const { id, client, functions, ConnectionId } = await connected();
    const management = clientOf(id, everything(id));
    const seen = await management.send(new GetConnectionCommand({ ConnectionId }));
    expect(seen.Identity).toMatchObject({ SourceIp: '127.0.0.1' });
    expect(Math.abs(Date.now() - Number(seen.ConnectedAt))).toBeLessThan(60_000);
    await management.send(new DeleteConnectionCommand({ ConnectionId }));
    expect(await client.ended()).toMatchObject({ code: 1000 });
    await until(() => eventsOf(functions['$disconnect']).length === 1);
  });

  test.each([
    ['post', new PostToConnectionCommand({ ConnectionId: 'x', Data: 'x' }), 'POST'],
    ['get', new GetConnectionCommand({ ConnectionId: 'x' }), 'GET'],
    ['delete', new DeleteConnectionCommand({ ConnectionId: 'x' }), 'DELETE'],
  ])('to %s needs ManageConnections for that method', async (_what, command, method) => {
    const { id, ConnectionId } = await connected();
    const named = Object.assign(command, { input: { ...command.input, ConnectionId } });
    const others = ['POST', 'GET', 'DELETE']
      .filter((each) => each !== method)
      .map((each) => manage(id, each));
    const error = await failure(clientOf(id, others).send(named as PostToConnectionCommand));
    expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['AccessDeniedException', 403]);
    expect(error.message).toContain(
      `is not authorized to perform: execute-api:ManageConnections on resource: arn:aws:execute-api:${REGION}:${ACCOUNT}:${id}/live/${method}/@connections/${ConnectionId}`,
    );
  });

  test('a connection that closed is gone', async () => {
    const { id, client, ConnectionId } = await connected();
    const management = clientOf(id, everything(id));
    client.socket.close();
    await client.ended();
    for (const command of [
      new PostToConnectionCommand({ ConnectionId, Data: 'x' }),
      new GetConnectionCommand({ ConnectionId }),
      new DeleteConnectionCommand({ ConnectionId }),
    ]) {
      const error = await failure(management.send(command as PostToConnectionCommand));
      expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['GoneException', 410]);
    }
  });

  test('a connection that was just told to end is gone already', async () => {
    const { id, client, ConnectionId } = await connected();
    const management = clientOf(id, everything(id));
    client.socket.pause();
    await management.send(new DeleteConnectionCommand({ ConnectionId }));
    const error = await failure(management.send(new PostToConnectionCommand({ ConnectionId, Data: 'x' })));
    expect(error.name).toBe('GoneException');
    client.socket.resume();
  });

  test('a connection of another API is gone', async () => {
    const { ConnectionId } = await connected();
    const other = newApi({});
    const error = await failure(
      clientOf(other.id, everything(other.id)).send(new GetConnectionCommand({ ConnectionId })),
    );
    expect(error.name).toBe('GoneException');
  });

  test('a message over 128 kB is refused, and the connection stays', async () => {
    const { id, client, ConnectionId } = await connected();
    const management = clientOf(id, everything(id));
    const push = (Data: string) => management.send(new PostToConnectionCommand({ ConnectionId, Data }));
    const error = await failure(push('x'.repeat(128 * KILOBYTE + 1)));
    expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['PayloadTooLargeException', 413]);
    await push('x'.repeat(128 * KILOBYTE));
    expect(await client.next()).toHaveLength(128 * KILOBYTE);
  });

  test('an id that is not percent-encoded is a bad request', async () => {
    const { id } = newApi({});
    const response = await world.signedFetch(`/_apis/${id}/live/@connections/%zz`, everything(id));
    expect(response.status).toBe(400);
  });
});

function handshake(path: string, more = 'sec-websocket-version: 13\r\n'): string {
  return `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`;
}

/** For requests that no client library would make. */
function upgradeStatus(path: string, more?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connectRaw(Number(new URL(world.endpoint).port), '127.0.0.1');
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('Closed without an answer.')));
    socket.once('data', (data) => {
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1]));
      socket.destroy();
    });
    socket.write(handshake(path, more));
  });
}
