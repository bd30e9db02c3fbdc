import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEventV2, SQSEvent } from 'aws-lambda';
import * as v from 'valibot';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SocketEvent, socketRoute } from '../../functions/events/socket-route.ts';
import { type Edge, edge, type Shape } from '../../functions/platform/edge/edge.ts';
import { refuse } from '../../functions/platform/errors.ts';
import type { Endpoint } from '../../functions/platform/http/endpoint.ts';
import { api } from '../../functions/platform/http/api.ts';
import { type Admit, serve } from '../../functions/platform/http/serve.ts';
import { queueConsumer } from '../../functions/platform/workflow/consumer.ts';
import { streamConsumer } from '../../functions/platform/workflow/stream.ts';
import { task } from '../../functions/platform/workflow/task.ts';

interface Line {
  level: string;
  correlation_id?: string;
  trace_id?: string;
  code?: string;
  error?: { name: string };
  messages?: unknown;
  status?: number;
}

const logged: Line[] = [];

beforeAll(() => {
  process.stdout.write = (chunk: string | Uint8Array) => logged.push(JSON.parse(String(chunk)) as Line) > 0;
});

beforeEach(() => void (logged.length = 0));

const ROOT = join(import.meta.dirname, '..', '..');
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

/** Lambda's context of a function that has so much time left. */
function lasting(ms: number) {
  const endsMs = Date.now() + ms;
  return { getRemainingTimeInMillis: () => endsMs - Date.now() };
}

const hung = (): Promise<never> => new Promise(() => undefined);

const endpoint = (run: Endpoint['run']): Endpoint => ({ kind: 'query', spec: { summary: '' }, run });
const TABLE = {
  'GET /done': ['done', 'public'],
  'GET /hung': ['hung', 'public'],
  'GET /broken': ['broken', 'public'],
  'GET /refused': ['refused', 'public'],
} as const;
const ENDPOINTS = {
  done: endpoint(async () => ({ status: 200, headers: { etag: '"7"' }, body: { ok: true } })),
  hung: endpoint(hung),
  broken: endpoint(async () => {
    throw new TypeError('the password is 1234');
  }),
  refused: endpoint(async () => {
    throw refuse('rate.exceeded', { headers: { 'retry-after': '9' } });
  }),
};
const served = api('things', TABLE, ENDPOINTS);

const requestOf = (routeKey: string, headers: Record<string, string> = {}) =>
  ({
    routeKey,
    headers,
    requestContext: { http: { sourceIp: '192.0.2.1' } },
  }) as unknown as APIGatewayProxyEventV2;

const messagesOf = (...bodies: object[]) =>
  ({
    Records: bodies.map((body, index) => ({
      messageId: `m${index + 1}`,
      body: JSON.stringify(body),
      attributes: { SentTimestamp: String(Date.now()), ApproximateReceiveCount: '1' },
    })),
  }) as unknown as SQSEvent;

describe('the edge of a function', () => {
  test('lets whoever called find everything under the ids they sent', async () => {
    const sent = { 'x-request-id': 'look-1', traceparent: TRACEPARENT };
    await served(requestOf('GET /done', sent));
    await served(requestOf('GET /broken', sent));
    const stepped = { correlation_id: 'look-1', traceparent: TRACEPARENT };
    await task(v.unknown(), async () => undefined)(stepped);
    await queueConsumer(v.unknown(), async () => undefined)(messagesOf(stepped));
    expect(logged.length).toBeGreaterThanOrEqual(5);
    for (const line of logged) expect(line).toMatchObject({ correlation_id: 'look-1', trace_id: TRACE });
  });

  test('makes a problem of an error, with the id to find it by and nothing of its cause', async () => {
    const { statusCode, headers, body } = await served(
      requestOf('GET /broken', { 'x-request-id': 'look-1' }),
    );
    expect(statusCode).toBe(500);
    expect(headers).toMatchObject({ 'content-type': 'application/problem+json', 'x-request-id': 'look-1' });
    expect(JSON.parse(body ?? '')).toEqual({
      type: 'urn:gpuaas:problem:internal',
      title: 'Something went wrong on our side',
      status: 500,
      code: 'internal',
      correlation_id: 'look-1',
      retryable: false,
    });
    expect(logged).toMatchObject([{ level: 'error', error: { name: 'TypeError' } }, { status: 500 }]);
  });

  test.each([
    ['GET /done', { 'content-type': 'application/json', etag: '"7"' }],
    ['GET /broken', { 'content-type': 'application/problem+json' }],
    ['GET /refused', { 'content-type': 'application/problem+json', 'retry-after': '9' }],
    ['GET /hung', { 'content-type': 'application/problem+json', 'retry-after': '1' }],
    ['GET /nowhere', { 'content-type': 'application/problem+json' }],
  ])('says on every answer what every answer says: %s', async (route, more) => {
    const { headers } = await served(requestOf(route, { 'x-request-id': 'look-1' }), lasting(0));
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'look-1',
      ...more,
    });
  });

  test('counts an answer once, whatever it says', async () => {
    for (const route of ['GET /done', 'GET /broken', 'GET /refused', 'GET /nowhere']) {
      await served(requestOf(route));
    }
    const counted = logged.flatMap(({ status }) => status ?? []);
    expect(counted).toEqual([200, 500, 429, 404]);
  });

  test('leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    await served(requestOf('GET /done'), lasting(60_000));
    await served(requestOf('GET /broken'), lasting(60_000));
    expect(timers()).toBe(before);
  });
});

describe('whoever is not admitted', { timeout: 5_000 }, () => {
  const run: string[] = [];
  const admitted = (admit: Admit) =>
    serve(
      'things',
      { 'GET /thing': ['getThing', 'project.read'] },
      {
        getThing: endpoint(
          async ({ actor }) => (run.push(actor.kind), { status: 200, headers: {}, body: {} }),
        ),
      },
      admit,
    );

  beforeEach(() => void (run.length = 0));

  test.each<[string, number, string, Admit]>([
    ['is refused', 403, 'permission.denied', () => Promise.reject(refuse('permission.denied'))],
    [
      'is refused without being looked up',
      401,
      'auth.missing',
      () => {
        throw refuse('auth.missing');
      },
    ],
    ['because admission broke, hears so', 500, 'internal', () => Promise.reject(new TypeError('no'))],
    ['because admission hung, hears so in time', 503, 'unavailable', hung],
  ])('%s, and nothing is done', async (_, statusCode, code, admit) => {
    const answer = await admitted(admit)(requestOf('GET /thing'), lasting(300));
    expect(answer).toMatchObject({ statusCode, headers: { 'content-type': 'application/problem+json' } });
    expect(JSON.parse(answer.body ?? '')).toMatchObject({ code });
    expect(run).toEqual([]);
  });

  test('still hears of their limits', async () => {
    const handler = admitted((_ctx, _event, _requirement, headers) => {
      headers['ratelimit'] = '"user";r=0';
      throw refuse('permission.denied');
    });
    expect((await handler(requestOf('GET /thing'))).headers).toMatchObject({ ratelimit: '"user";r=0' });
  });

  test('is told apart from whoever is, whom the work knows', async () => {
    const actor = { kind: 'user', id: 'u1' } as const;
    const handler = admitted(async (ctx) => ({ ...ctx, actor }));
    expect(await handler(requestOf('GET /thing'), lasting(60_000))).toMatchObject({ statusCode: 200 });
    expect(run).toEqual(['user']);
  });
});

describe('work that would outlast its function', () => {
  const step = { correlation_id: 'look-1' };
  const asked = requestOf('GET /hung', { 'x-request-id': 'look-1' });

  test('is answered before, as a problem that may pass', async () => {
    const time = lasting(300);
    const { statusCode, headers, body } = await served(asked, time);
    expect(time.getRemainingTimeInMillis()).toBeGreaterThan(0);
    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({ 'retry-after': '1' });
    expect(JSON.parse(body ?? '')).toMatchObject({
      code: 'unavailable',
      retryable: true,
      correlation_id: 'look-1',
    });
    expect(logged).toMatchObject([
      { level: 'error', code: 'unavailable', correlation_id: 'look-1', error: { name: 'unavailable' } },
      { status: 503 },
    ]);
  });

  test('is a failed step that the workflow tries again', async () => {
    const time = lasting(300);
    await expect(task(v.unknown(), hung)(step, time)).rejects.toMatchObject({ name: 'unavailable' });
    expect(time.getRemainingTimeInMillis()).toBeGreaterThan(0);
    expect(logged).toMatchObject([
      { level: 'error', correlation_id: 'look-1', error: { name: 'unavailable' } },
    ]);
  });

  test('is a batch of messages that comes again, though some of it was done', async () => {
    const time = lasting(300);
    const Body = v.object({ hangs: v.boolean() });
    const consumer = queueConsumer(Body, (_ctx, { hangs }) => (hangs ? hung() : Promise.resolve()));
    const messages = messagesOf({ hangs: false }, { hangs: true, correlation_id: 'look-1' });
    await expect(consumer(messages, time)).rejects.toMatchObject({
      code: 'unavailable',
      kind: { retryable: true },
    });
    expect(time.getRemainingTimeInMillis()).toBeGreaterThan(0);
    expect(logged).toContainEqual(
      expect.objectContaining({
        level: 'error',
        messages: [
          { message_id: 'm1', correlation_id: 'm1' },
          { message_id: 'm2', correlation_id: 'look-1' },
        ],
      }),
    );
  });

  test('is a batch of the stream that comes again', async () => {
    const consumer = streamConsumer(hung);
    await expect(consumer({ Records: [] }, lasting(300))).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(logged).toMatchObject([{ level: 'error', error: { name: 'unavailable' } }]);
  });

  test('opens no socket', async () => {
    expect(await socketRoute(hung)({} as SocketEvent, lasting(300))).toEqual({ statusCode: 503 });
    expect(logged).toMatchObject([{ level: 'error', code: 'unavailable' }, { status: 503 }]);
  });

  test('is answered before whoever waits for it has gone, whatever time the function has', async () => {
    const SHAPE: Shape<unknown, string> = {
      kind: 'http',
      sent: () => ({}),
      tellError: (_ctx, _event, error) => (error as Error).name,
      patienceMs: 300,
    };
    const time = lasting(2_000);
    expect(await edge(SHAPE, hung)({}, time)).toBe('unavailable');
    expect(time.getRemainingTimeInMillis()).toBeGreaterThan(1_000);
  });

  test('may still fail, and nobody minds', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const handler = api('things', TABLE, { ...ENDPOINTS, hung: endpoint(() => promise) });
    expect(await handler(asked, lasting(0))).toMatchObject({ statusCode: 503 });
    reject(new Error('too late'));
    await new Promise(setImmediate);
  });
});

describe('every function', () => {
  const functions = globSync('functions/*/*.ts', { cwd: ROOT }).filter((file) =>
    /^export const handler\b/m.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  const load = async (file: string): Promise<Edge<unknown, unknown>> =>
    ((await import(join(ROOT, file))) as { handler: Edge<unknown, unknown> }).handler;

  test('stands behind the one edge, in each of its shapes', async () => {
    const kinds = await Promise.all(functions.map(async (file) => (await load(file)).kind));
    const edgeless = functions.filter((_, index) => kinds[index] === undefined);
    expect(edgeless).toEqual([]);
    expect(new Set(kinds)).toEqual(new Set(['http', 'socket', 'queue', 'stream', 'step', 'trigger']));
  });

  test.each(functions)('takes an event that is none as the edge does: %s', async (file) => {
    const handler = await load(file);
    const outcome = await handler(null, lasting(0)).catch((error: unknown) => error);
    expect(logged).not.toEqual([]);
    for (const line of logged) {
      expect(line).toMatchObject({
        correlation_id: expect.stringMatching(/./) as string,
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      });
    }
    if (handler.kind === 'http') {
      expect(outcome).toMatchObject({
        statusCode: 500,
        headers: { 'content-type': 'application/problem+json', 'x-request-id': logged[0]?.correlation_id },
      });
    }
    if (handler.kind === 'socket') expect(outcome).toEqual({ statusCode: 500 });
    if (handler.kind === 'queue' || handler.kind === 'stream') expect(outcome).toBeInstanceOf(TypeError);
    if (handler.kind === 'trigger') expect(outcome).toMatchObject({ code: 'request.invalid' });
  });
});
