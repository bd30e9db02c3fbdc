import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostOf } from '../../functions/storage/registry-host.ts';
import { ecr } from '../../functions/platform/clients.ts';
import { openScene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';

const ROUTE = 'GET /api/v1/apps/registry';

let world: World;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  token = (await openScene(world).person()).token;
});

afterAll(() => world.close());

test.each([
  [
    '123456789012.dkr.ecr.eu-west-1.amazonaws.com/gpuaas/platform',
    '123456789012.dkr.ecr.eu-west-1.amazonaws.com',
  ],
  ['127.0.0.1:5000/gpuaas/platform', '127.0.0.1:5000'],
])('the host of %s stands before the first slash', (uri, host) => {
  expect(hostOf(uri)).toBe(host);
});

describe('the registry', () => {
  const asked: unknown[] = [];
  let isSilent = true;

  beforeAll(() => {
    ecr().middlewareStack.add(
      (next) => (args) => {
        asked.push(args.input);
        if (isSilent) throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
        return next(args);
      },
      { step: 'initialize' },
    );
  });

  test('cannot be told of while ECR does not answer', async () => {
    const { status, headers, body } = await world.call(ROUTE, { token });
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'unavailable', retryable: true });
    expect(headers['retry-after']).toBe('1');
  });

  test('is told as soon as it answers, with everything a push must heed', async () => {
    isSilent = false;
    const { status, body } = await world.call(ROUTE, { token });
    expect(status).toBe(200);
    expect(body).toEqual({
      // What ECR says here; over HTTP it is the registry of the machine.
      registry_host: 'registry.invalid',
      namespace: 'gpuaas/apps',
      namespace_ownership: 'project',
      repository_pattern: 'gpuaas/apps/{project_slug}/{app_slug}',
      digest_only: true,
      private_repositories: true,
      tags: 'informational',
      signature_required: true,
      signature_scheme: 'notation-jws',
    });
  });

  test('is asked for once in the life of a function', async () => {
    expect(asked).toHaveLength(2);
    isSilent = true;
    expect((await world.call(ROUTE, { token })).status).toBe(200);
    expect(asked).toEqual(Array.from({ length: 2 }, () => ({ repositoryNames: ['gpuaas/platform'] })));
  });

  test('is told to nobody without a token', async () => {
    expect((await world.call(ROUTE)).body).toMatchObject({ code: 'auth.missing' });
  });
});
