import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEcrWorld, PULL, PUSH, type EcrWorld } from './ecr-world.ts';
import { exchange } from './oci-client.ts';

let world: EcrWorld;

beforeAll(async () => {
  world = await openEcrWorld();
  world.ecr.putRepository({ name: 'team/app', tagMutability: 'MUTABLE' });
});

afterAll(() => world.close());

/** What the token allows that a session with these permissions gets when it asks for everything. */
async function granted(permissions: string[]): Promise<unknown> {
  const password = await world.password(world.session(permissions, ['team/app']));
  const answer = await exchange(world.realm, password, 'repository:team/app:pull,push');
  const { token } = (await answer.json()) as { token: string };
  return decodeJwt(token)['access'];
}

test('who has all permissions of pulling and pushing may do both', async () => {
  expect(await granted([...PULL, ...PUSH])).toEqual([
    { type: 'repository', name: 'team/app', actions: ['pull', 'push'] },
  ]);
});

test.each(PULL)('without %s nothing is pulled', async (missing) => {
  expect(await granted([...PULL, ...PUSH].filter((permission) => permission !== missing))).toEqual([
    { type: 'repository', name: 'team/app', actions: ['push'] },
  ]);
});

test.each(PUSH)('without %s nothing is pushed', async (missing) => {
  expect(await granted([...PULL, ...PUSH].filter((permission) => permission !== missing))).toEqual([
    { type: 'repository', name: 'team/app', actions: ['pull'] },
  ]);
});
