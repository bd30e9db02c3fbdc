import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as v from 'valibot';
import { createNodeTokens } from '../../../agent/platform/node-token.ts';
import { createPlatformClient, type AskPlatform } from '../../../agent/platform/platform-client.ts';
import type { PlatformError } from '../../../agent/platform/platform-error.ts';
import { problem, type SmallPlatform, startSmallPlatform } from '../small-platform.ts';

let platform: SmallPlatform;
let ask: AskPlatform;
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const Said = v.object({ said: v.string() });

beforeAll(async () => {
  platform = await startSmallPlatform();
});
afterAll(() => platform.stop());

beforeEach(() => {
  platform.asked.length = 0;
  Object.assign(platform.state, { nodeKey: publicKey, tokenSeconds: 3600, minted: 0 });
  ask = clientWith(privateKey);
});

const clientWith = (key: typeof privateKey, now = () => new Date()): AskPlatform =>
  createPlatformClient(platform.url, createNodeTokens(platform.url, platform.nodeId, key, now));

/** Answers these one after the other, and the last one ever after. */
function answering(...answers: ReturnType<typeof problem>[]): string {
  const path = platform.at(`/${randomUUID()}`);
  let next = 0;
  platform.on(`POST ${path}`, () => answers[Math.min(next++, answers.length - 1)] ?? {});
  return path;
}

const hello = { body: { said: 'hello' } };
const failureOf = (promise: Promise<unknown>): Promise<PlatformError> =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error as PlatformError,
  );

describe('the token', () => {
  test('is got by an assertion the platform accepts, and used for many requests', async () => {
    const path = answering(hello);
    for (let count = 0; count < 3; count++)
      expect(await ask({ method: 'POST', path, body: {} }, Said)).toEqual({ said: 'hello' });
    expect(platform.state.minted).toBe(1);
  });

  test('is got once by many who ask at the same time', async () => {
    const path = answering(hello);
    await Promise.all(Array.from({ length: 10 }, () => ask({ method: 'POST', path, body: {} }, Said)));
    expect(platform.state.minted).toBe(1);
  });

  test('is renewed before it expires', async () => {
    let time = new Date();
    ask = clientWith(privateKey, () => time);
    const path = answering(hello);
    await ask({ method: 'POST', path }, Said);
    time = new Date(time.getTime() + 54 * 60_000);
    await ask({ method: 'POST', path }, Said);
    expect(platform.state.minted).toBe(1);
    time = new Date(time.getTime() + 2 * 60_000);
    await ask({ method: 'POST', path }, Said);
    expect(platform.state.minted).toBe(2);
  });

  test('that was revoked is replaced, and the request made again', async () => {
    const path = answering(hello);
    await ask({ method: 'POST', path }, Said);
    platform.revokeTokens();
    expect(await ask({ method: 'POST', path }, Said)).toEqual({ said: 'hello' });
    expect(platform.state.minted).toBe(2);
  });

  test('is not given to another key', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const error = await failureOf(clientWith(other)({ method: 'POST', path: answering(hello) }, Said));
    expect(error).toMatchObject({ code: 'auth.assertion_refused', status: 401 });
  });
});

describe('a request', () => {
  test('that may succeed later is made again under the same key', async () => {
    const path = answering(problem(503, 'unavailable', true), problem(429, 'rate.exceeded', true), hello);
    expect(await ask({ method: 'POST', path, body: {} }, Said)).toEqual({ said: 'hello' });
    const keys = platform.askedFor(path).map(({ headers }) => headers['x-idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test('that was refused is not made again', async () => {
    const path = answering(problem(409, 'node.key_cloned'));
    const error = await failureOf(ask({ method: 'POST', path, body: {} }, Said));
    expect(error).toMatchObject({ code: 'node.key_cloned', status: 409, isRetryable: false });
    expect(platform.askedFor(path)).toHaveLength(1);
  });

  test('waits as long as it is told to', async () => {
    const busy = { ...problem(429, 'rate.exceeded', true), headers: { 'retry-after': '1' } };
    const path = answering(busy, hello);
    const begun = performance.now();
    await ask({ method: 'POST', path }, Said);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(950);
  });

  test('ends after so many attempts', async () => {
    const path = answering(problem(503, 'unavailable', true));
    const error = await failureOf(ask({ method: 'POST', path, attempts: 2 }, Said));
    expect(error.code).toBe('unavailable');
    expect(platform.askedFor(path)).toHaveLength(2);
  });

  test('to a platform that cannot be reached says so', async () => {
    const gone = createPlatformClient(
      'http://127.0.0.1:1',
      createNodeTokens('http://127.0.0.1:1', platform.nodeId, privateKey, () => new Date()),
    );
    const error = await failureOf(gone({ method: 'GET', path: '/', attempts: 1 }, Said));
    expect(error).toMatchObject({ code: 'unreachable', isRetryable: true });
    expect(error.message).toContain('http://127.0.0.1:1 cannot be reached');
  });

  test('whose answer is not understood fails, and so does one that leads elsewhere', async () => {
    const odd = answering({ body: { said: 7 } });
    expect(await failureOf(ask({ method: 'POST', path: odd }, Said))).toMatchObject({
      code: 'answer.invalid',
    });
    const elsewhere = answering({ status: 307, headers: { location: `${platform.url}/elsewhere` } });
    expect(await failureOf(ask({ method: 'POST', path: elsewhere, attempts: 1 }, Said))).toMatchObject({
      code: 'unreachable',
    });
    expect(platform.askedFor('/elsewhere')).toEqual([]);
  });

  test('answered by something between us and the platform is told by its status', async () => {
    const path = answering({ status: 502, body: Buffer.from('<html>Bad gateway</html>') }, hello);
    expect(await ask({ method: 'POST', path }, Said)).toEqual({ said: 'hello' });
    const teapot = answering({ status: 418, body: Buffer.from('short and stout') });
    expect(await failureOf(ask({ method: 'POST', path: teapot }, Said))).toMatchObject({ code: 'http.418' });
  });
});
