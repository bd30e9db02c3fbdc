import { afterAll, beforeAll, expect, test } from 'vitest';
import { command } from '../../functions/platform/http/endpoint.ts';
import { createContext } from '../../functions/platform/context.ts';
import { refuse } from '../../functions/platform/errors.ts';
import type { Request } from '../../functions/platform/http/request.ts';
import { openWorld, type World } from '../api/world.ts';

let world: World;
let isRefused = false;

const endpoint = command(
  { summary: 'Something that works once', action: 'test.thing.try', idempotency: 'optional' },
  () => ({
    subject: `thing:${isRefused}`,
    writes: [],
    reply: { done: true },
    ...(isRefused && { refusal: refuse('request.conflict') }),
  }),
);

const request = (idempotencyKey: string): Request =>
  ({ route: 'POST /test', params: {}, query: {}, headers: {}, idempotencyKey }) as unknown as Request;

const audited = async (): Promise<unknown[]> =>
  (await world.items('AUDIT#'))
    .filter(({ action }) => action === 'test.thing.try')
    .map(({ subject }) => subject);

const logged: string[] = [];

beforeAll(async () => {
  process.stdout.write = (chunk: string | Uint8Array) => logged.push(String(chunk)) > 0;
  world = await openWorld();
});

afterAll(() => world.close());

test('a refusal that must be heard of is written down and still a refusal', async () => {
  isRefused = true;
  await expect(endpoint.run(createContext('look-1'), request('one'))).rejects.toMatchObject({
    code: 'request.conflict',
  });
  expect(await audited()).toEqual(['thing:true']);
  // The alarms count it.
  expect(logged.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { code: 'request.conflict', written_refusals: 1 },
  ]);
});

test('it leaves no receipt: the same request may succeed later', async () => {
  isRefused = false;
  expect(await endpoint.run(createContext('look-2'), request('one'))).toMatchObject({
    status: 200,
    body: { done: true },
  });
});

test('what was done under the same key is answered again, and nothing is written down against it', async () => {
  isRefused = true;
  const before = await audited();
  expect(await endpoint.run(createContext('look-3'), request('one'))).toMatchObject({ status: 200 });
  expect(await audited()).toEqual(before);
});
