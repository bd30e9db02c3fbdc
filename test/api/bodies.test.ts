import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands, reads, reports } from './recipes.ts';
import { openScene } from './scene.ts';
import { type Call, openWorld, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});

afterAll(() => world.close());

const NO_OBJECTS = ['[]', '[{}]', 'null', '"x"', '1', 'true'];

/** The call that would succeed, with another body. */
const withBody = (call: Call, body: string): Call => ({
  ...call,
  body,
  headers: { 'x-idempotency-key': crypto.randomUUID(), ...call.headers, 'content-type': 'application/json' },
});

/** Validation alone says so without a problem: it was asked. */
async function expectRefused(route: string, call: Call): Promise<void> {
  const bodies = withArrays(call.body).map((body) => JSON.stringify(body));
  for (const body of [...NO_OBJECTS, ...bodies]) {
    const { status, text } = await world.call(route, withBody(call, body));
    expect(`${status} ${text}`, `${route} ${body}`).toMatch(
      /^(400|422) .*"code":"(request|manifest)\.invalid"|^200 \{"valid":false,/,
    );
  }
}

describe('a body that is no object, or has an array in the place of one, is refused,', () => {
  test.each(commands)('%s', async (_, { route, prepare }) => {
    const { call } = await prepare(openScene(world));
    await expectRefused(route, call);
    // It was refused for its body alone, and nothing was done about it.
    const { status, text } = await world.call(route, withBody(call, JSON.stringify(call.body ?? {})));
    expect(status, text).toBeLessThan(300);
  });

  test.each([...reads.filter(([route]) => route.startsWith('POST ')), ...reports])(
    '%s',
    async (route, prepare) => {
      const call = await prepare(openScene(world));
      await expectRefused(route, call);
      expect((await world.call(route, call)).status).toBeLessThan(300);
    },
  );
});

/** The body once for each object in it, with an empty array there. */
function withArrays(body: unknown): unknown[] {
  if (typeof body !== 'object' || body === null) return [];
  const members = Object.entries(body).flatMap(([name, value]) =>
    withArrays(value).map((other) =>
      Array.isArray(body) ? body.with(Number(name), other) : { ...body, [name]: other },
    ),
  );
  return Array.isArray(body) ? members : [[], ...members];
}
