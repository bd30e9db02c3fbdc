import type { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dynamo } from '../../functions/platform/clients.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { RouteKey } from '../../functions/routes.ts';
import { routesInFull } from '../../lib/endpoints.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import type { Body, Prepared } from './recipe.ts';
import { commands } from './recipes.ts';
import { openScene, type Scene } from './scene.ts';
import { differenceOf, effectOf, type Snapshot, takeSnapshot } from './snapshot.ts';
import { type Answer, type Call, openWorld, type World, signAssertion } from './world.ts';

// A command that ends anywhere, before or after whichever of its requests to DynamoDB, has done everything or
// nothing; and made once more under its key, it is done once.

const WHENS = ['before it is sent', 'after it is carried out'] as const;

interface Crash {
  /** Which request of the call, from 1. */
  at: number;
  when: (typeof WHENS)[number];
}

const specs = new Map(routesInFull().map(({ route, endpoint }) => [route, endpoint.spec]));

let world: World;
let scene: Scene;
let sent: string[] = [];
let crash: Crash | undefined;
let isNextAnswerLost = false;

beforeAll(async () => {
  // A call makes the same requests each time.
  world = await openWorld({ roughness: SMOOTH });
  scene = openScene(world);
  // Outside of the client's own retries: to the handler, it is over.
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        sent.push(String(commandName));
        const isHere = crash?.at === sent.length;
        if (isHere && crash?.when === 'before it is sent') throw lost();
        const answer = await next(args);
        if (isHere) throw lost();
        return answer;
      },
    { step: 'initialize', name: 'crash' },
  );
  // Inside of them: the client sends the same request again.
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args);
        if (!isNextAnswerLost || !isWrite(String(commandName))) return answer;
        isNextAnswerLost = false;
        // A connection that is lost is closed; left open and unread, it would be one of the few the client has.
        (answer.response as { body: Readable }).body.destroy();
        throw lost();
      },
    { step: 'deserialize', name: 'loseAnswer' },
  );
});

// The table is looked at whole, so it holds only what the test needs.
beforeEach(() => world.clear());

afterAll(() => world.close());

function lost(): Error {
  const error = new Error('The connection was lost.');
  error.name = 'TimeoutError';
  return error;
}

const isWrite = (name: string): boolean => !/Get|Query/.test(name);

/** Called as in a function that has just started: every request there can be is made. */
async function call(route: RouteKey, asked: Call, crashing?: Crash): Promise<Answer> {
  world.forgetAuthorization();
  sent = [];
  crash = crashing;
  const answer = await world.call(route, asked);
  crash = undefined;
  return answer;
}

const changedSince = async (before: Snapshot): Promise<string[]> =>
  effectOf(differenceOf(before, await takeSnapshot(world)));

describe.each(commands)('%s', (_, { route, prepare }) => {
  const { idempotency } = specs.get(route) ?? {};
  const keepsReceipt = idempotency !== 'none';

  async function begin(headers: Record<string, string>): Promise<Prepared & { before: Snapshot }> {
    await world.clear();
    const prepared = await prepare(scene);
    return { ...prepared, call: { ...prepared.call, headers }, before: await takeSnapshot(world) };
  }

  /** What it does when all goes well, and by which requests. */
  async function watchWhole(headers: Record<string, string>) {
    const { before, ...prepared } = await begin(headers);
    const { status, text } = await call(route, prepared.call);
    expect(status, text).toBeLessThan(300);
    return { status, requests: [...sent], effect: await changedSince(before) };
  }

  test('has happened or has not, wherever it ends, and made again it has happened once', async () => {
    const { status, requests, effect } = await watchWhole({ 'x-idempotency-key': newId() });
    expect(requests.filter(isWrite)).toEqual(['TransactWriteItemsCommand']);

    for (const [index, name] of requests.entries()) {
      // That a read was carried out, nobody can tell.
      for (const when of isWrite(name) ? WHENS : WHENS.slice(1)) {
        const title = `${name}, request ${index + 1} of ${requests.length}, ${when}`;
        const isDone = isWrite(name) && when === 'after it is carried out';
        const { before, ...prepared } = await begin({ 'x-idempotency-key': newId() });
        const ended = await call(route, prepared.call, { at: index + 1, when });
        expect(ended, title).toMatchObject({ status: 503, body: { code: 'unavailable', retryable: true } });
        expect(await changedSince(before), title).toEqual(isDone ? effect : []);
        if (isDone && !keepsReceipt) continue;

        const again = await call(route, prepared.call);
        expect(again.status, title).toBe(status);
        expect(await changedSince(before), title).toEqual(effect);
        // The answer is about what happened, not about something it might have been.
        const { subject, also = [] } = prepared.about(again.body as Body);
        const subjects = (await world.items('AUDIT#')).map((row) => String(row['subject']));
        expect(subjects.sort(), title).toEqual([subject, ...also].sort());
        if (keepsReceipt) expect((await call(route, prepared.call)).text, title).toBe(again.text);
      }
    }
  });

  test('happens once and says so when DynamoDB’s answer is lost on its way to the function', async () => {
    // Without a key where it can do without: the client's own retry must be enough.
    const headers = (): Record<string, string> =>
      idempotency === 'required' ? { 'x-idempotency-key': newId() } : {};
    const { status, effect } = await watchWhole(headers());
    const { before, ...prepared } = await begin(headers());
    isNextAnswerLost = true;
    expect(await call(route, prepared.call)).toMatchObject({ status });
    expect(isNextAnswerLost).toBe(false);
    expect(await changedSince(before)).toEqual(effect);
  });
});

describe('a token that was issued and never arrived', () => {
  test('is had by another assertion, the first being spent', async () => {
    const route = 'POST /api/v1/auth/service-account/token';
    const { project } = await scene.place();
    const account = await scene.account(project);
    const body = { assertion: await signAssertion(account) };
    await call(route, { body }, { at: 3, when: 'after it is carried out' });
    expect(sent).toEqual(['GetItemCommand', 'BatchGetItemCommand', 'TransactWriteItemsCommand']);
    expect(await call(route, { body })).toMatchObject({ status: 401 });
    const another = { assertion: await signAssertion(account) };
    expect(await call(route, { body: another })).toMatchObject({ status: 200 });
  });
});
