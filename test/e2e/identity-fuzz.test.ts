import { connect } from 'node:net';
import fc from 'fast-check';
import { beforeAll, expect, inject, test } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../functions/problems.ts';
import { type RouteKey, routes } from '../../functions/routes.ts';
import { DEEP } from '../deep.ts';
import {
  type Answer,
  call,
  createAccount,
  createPlace,
  join,
  localAddress,
  mint,
  type Person,
  type Place,
  rolesToBeKnown,
  tokenOf,
} from './people.ts';
import { findShownSecrets, plant } from './planted-secrets.ts';

// The bodies a handler meets are fuzzed by the thousand inside one process, in test/api/fuzz.test.ts. Here the
// whole way is: what a client can put on the wire, through the gateway, to the function and back.

const { api_url } = inject('platform');
const LANES = 4;
const RUNS = DEEP ? 10_000 : 200;
const RAW_RUNS = RUNS / 5;
const SECONDS_MAX = DEEP ? RUNS / 4 : 120;
/** The gateway takes 10,240 of headers; a token and what every client sends come to less than the rest. */
const LONG_BYTES_SAFE = 7_000;
const PLANTED = 'planted-secret-0f3a9c51d2';
const ROTATION = 'POST /api/v1/admin/signing-keys/rotate';

let place: Place;
let accountToken: string;
let ids: string[];

beforeAll(async () => {
  plant('what was sent', PLANTED);
  place = await createPlace('fuzz');
  await join('operator', { org_id: place.org_id, role: 'org_admin' });
  const account = await createAccount(place.project_id, 'fuzz');
  accountToken = (await mint(account)).body.access_token;
  ids = [place.org_id, place.project_id, account.id, place.project_id.toUpperCase()];
  await rolesToBeKnown();
});

/** Mostly what a member of a body could be, or nearly. */
const values = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  // As no name or description could be kept, so that it has no business anywhere.
  fc.constant(`${PLANTED}\0`),
  fc.constantFrom('viewer', 'org_admin', 'who@example.com', '', null, true, -1, 1e308, [], {}),
  fc.jsonValue({ maxDepth: 3 }),
);
const words = (text: string) => fc.constantFrom(...text.split(' '));
const members = words(
  'name slug email role description overlap_seconds invite_admin_email project_id assertion private_key_pem ' +
    'service_account_id key_id invitation_token __proto__',
);
const bodies = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.dictionary(members, values, { maxKeys: 6 }).map((body) => JSON.stringify(body)),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }).map((body) => JSON.stringify(body)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.constantFrom('', '{', '[]', '"', `{"name":"${'x'.repeat(300_000)}"}`) },
);

/** What stands in a path where an id should; `#` and a digit stand for one that is there. */
const segments = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('#0', '#1', '#2', '#3') },
  { weight: 1, arbitrary: fc.uuid() },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).map(encodeURIComponent),
  },
  {
    weight: 1,
    arbitrary: words(`% %zz %00 %ff %2e%2e .. %2f //  ; * ' ${PLANTED}`),
  },
);

const queries = fc.oneof(
  fc
    .dictionary(
      fc.constantFrom('limit', 'cursor', 'actor', 'action', 'subject', 'from', 'to', 'nonsense'),
      fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        fc.constantFrom('1', '100', '101', '-1', '2026-01-01T00:00:00Z', 'RVZFTlQj', PLANTED),
      ),
      { maxKeys: 3 },
    )
    .map((query) => String(new URLSearchParams(query))),
  fc.constantFrom(
    '',
    '',
    '&&==',
    'limit=1&limit=2',
    'cursor=%',
    'cursor=%ff%fe',
    'limit[]=1',
    `a=${PLANTED}`,
  ),
);

// What Node lets a client send; the other bytes come raw, below.
const inHeaders = fc
  .integer({ min: 0x20, max: 0xff })
  .filter((code) => code !== 0x7f)
  .map((code) => String.fromCharCode(code));
const headers = fc.dictionary(
  words(
    'x-request-id x-idempotency-key idempotency-key if-match content-type authorization traceparent cookie ' +
      'x-forwarded-for accept-encoding origin content-encoding',
  ),
  fc.oneof(
    fc.string({ unit: inHeaders }),
    fc.constantFrom('"1"', '*', 'W/"1"', 'application/json; charset=utf-8', 'text/plain', 'gzip'),
    fc.constantFrom('Bearer x', 'Bearer', `Bearer ${PLANTED}`, 'Basic eDp5', 'AWS4-HMAC-SHA256 Credential=x'),
  ),
  { maxKeys: 4 },
);

const callers = fc.constantFrom<Person | 'account' | 'nobody'>('operator', 'admin', 'account', 'nobody');

const requests = fc.record({
  route: fc.constantFrom(...(Object.keys(routes) as RouteKey[])),
  caller: callers,
  segments: fc.array(segments, { minLength: 3, maxLength: 3 }),
  query: queries,
  headers,
  /** Of one more header: beyond 10,240 in all the gateway takes none. */
  longBytes: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 5_000, max: 12_000 })),
  body: bodies,
});

type Fuzzed = typeof requests extends fc.Arbitrary<infer T> ? T : never;

const fill = (segment: string): string =>
  segment.startsWith('#') ? (ids[Number(segment[1])] ?? '') : segment;

async function ask({ route, caller, segments, query, headers, longBytes, body }: Fuzzed): Promise<Answer> {
  const [method = '', pattern = ''] = route.split(' ');
  let at = 0;
  const path = pattern.replaceAll(/\{\w+\}/g, () => fill(segments[at++] ?? ''));
  // A rotation is everybody's: another file tries it, and it can be done only once in a quarter of an hour.
  const who = route === ROTATION && caller === 'admin' ? 'operator' : caller;
  const signed = who === 'nobody' ? {} : { token: who === 'account' ? accountToken : await tokenOf(who) };
  return call(method, query === '' ? path : `${path}?${query}`, {
    ...signed,
    headers: { ...headers, 'x-long': 'y'.repeat(longBytes) },
    ...(method === 'GET' ? {} : { body }),
  });
}

/** The gateway answers by itself where there is no route, or nothing a function could be given. */
function isGateways({ status, body, text }: Answer): boolean {
  // What the HTTP parser already turns away gets no body at all.
  if (text === '') return status === 400 || status === 431;
  return [400, 403, 404, 413, 431].includes(status) && typeof body['message'] === 'string';
}

function isOfAws({ headers }: Answer): boolean {
  return headers['x-amzn-requestid'] !== undefined;
}

/** Whether a function must have answered: the path fits its route, and the gateway had nothing against the rest. */
function isForFunction({ route, segments, longBytes }: Fuzzed): boolean {
  return segments.every(isSegment) && longBytes < LONG_BYTES_SAFE && routes[route].permission !== 'iam';
}

function isSegment(text: string): boolean {
  try {
    return /^[^/]+$/.test(decodeURIComponent(text));
  } catch {
    return false;
  }
}

function expectProblem({ status, headers, body, text }: Answer): void {
  expect(headers['content-type'], text).toBe('application/problem+json');
  expect(PROBLEMS[body['code'] as ProblemCode]?.status, text).toBe(status);
  expect(body).toMatchObject({ status, correlation_id: headers['x-request-id'] });
  expect(text).not.toContain(PLANTED);
}

test(
  `${RUNS} odd requests are answered, none with a 500, and every no is a problem document`,
  async () => {
    const heard = new Map<number, number>();
    const property = () =>
      fc.asyncProperty(requests, async (fuzzed) => {
        const answer = await ask(fuzzed);
        heard.set(answer.status, (heard.get(answer.status) ?? 0) + 1);
        expect(answer.status, answer.text).toBeLessThan(500);
        if (answer.status < 400 || isOfAws(answer)) return;
        if (isForFunction(fuzzed) || !isGateways(answer)) expectProblem(answer);
      });
    // Several at once, so that requests also meet inside a function.
    await Promise.all(
      Array.from({ length: LANES }, () =>
        fc.assert(property(), { numRuns: RUNS / LANES, endOnFailure: true }),
      ),
    );
    // Else nothing was tried beyond the door.
    for (const status of [200, 400, 401, 404]) expect([...heard.keys()]).toContain(status);
  },
  SECONDS_MAX * 1000,
);

/** Sends bytes and returns what comes back until the other side is done; it may also just hang up. */
function sendRaw(bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api_url);
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    const chunks: Buffer[] = [];
    socket.setTimeout(30_000, () => socket.destroy(new Error('No answer and no end.')));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? undefined : reject(error),
    );
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.end(bytes);
  });
}

const octets = fc
  .uint8Array({ minLength: 1, maxLength: 40 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));
const lines = fc.record({
  method: fc.oneof(
    fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE'),
    octets,
  ),
  target: fc.oneof(
    fc.constantFrom(
      '/api/v1/me',
      '/api/v1/projects/%',
      '/api/v1/orgs/%c0%ae',
      '*',
      '/',
      '//',
      '/docs?%',
      '\\',
    ),
    octets.map((text) => `/api/v1/projects/${text}`),
    octets.map((text) => `/api/v1/me?${text}`),
  ),
  header: fc.oneof(
    octets.map((text) => `x-request-id: ${text}`),
    octets.map((text) => `${text}: x`),
    octets.map((text) => `authorization: Bearer ${text}`),
    fc.constantFrom(
      'x: ',
      'content-length: -1',
      'content-length: 9',
      'transfer-encoding: chunked',
      'expect: x',
    ),
    fc.integer({ min: 9_000, max: 40_000 }).map((length) => `x-long: ${'y'.repeat(length)}`),
  ),
  body: octets,
});

test(
  `${RAW_RUNS} requests of odd bytes are answered or hung up on, none with a 500`,
  async () => {
    const { host } = new URL(api_url);
    await fc.assert(
      fc.asyncProperty(lines, async ({ method, target, header, body }) => {
        const head = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${header}\r\n\r\n`;
        const answer = await sendRaw(Buffer.from(head + body, 'latin1'));
        expect(answer).toMatch(/^(HTTP\/1\.1 [1-4]\d\d |$)/);
      }),
      { numRuns: RAW_RUNS, endOnFailure: true },
    );
  },
  SECONDS_MAX * 1000,
);

test('after all that the platform answers as before', async () => {
  expect(await call('GET', `/api/v1/projects/${place.project_id}`, { as: 'admin' })).toMatchObject({
    status: 200,
    body: { id: place.project_id },
  });
});

test('nothing secret of all this can be read in a log, an event or an item', async () => {
  expect(await findShownSecrets()).toEqual([]);
});
