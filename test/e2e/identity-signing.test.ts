import { setTimeout as wait } from 'node:timers/promises';
import { decodeProtectedHeader } from 'jose';
import { expect, test } from 'vitest';
import { until } from '../until.ts';
import { call, createAccount, createPlace, done, mint } from './people.ts';

const kidOf = ({ body }: Awaited<ReturnType<typeof mint>>) => decodeProtectedHeader(body.access_token).kid;

test('the signing key is rotated with the tokens of both keys live', async () => {
  const { project_id } = await createPlace('signing');
  const account = await createAccount(project_id, 'rotated');
  const before = await mint(account);
  const first = kidOf(before);
  await done('POST', '/api/v1/admin/signing-keys/rotate', { as: 'admin' });
  const after = await until(
    async () => {
      // Tokens are asked for at leisure: there is a limit to how many.
      await wait(500);
      const minted = await mint(account);
      return kidOf(minted) !== first && minted;
    },
    'the other key to sign',
    60,
  );

  for (const { body } of [before, after])
    expect((await call('GET', `/api/v1/projects/${project_id}`, { token: body.access_token })).status).toBe(
      200,
    );
  const { keys } = await done<{ keys: { kid: string }[] }>('GET', '/.well-known/jwks.json', {});
  expect(new Set(keys.map(({ kid }) => kid))).toEqual(new Set([first, kidOf(after)]));
  const { items } = await done<{ items: { key_id: string; status: string }[] }>(
    'GET',
    '/api/v1/admin/signing-keys',
    {
      as: 'admin',
    },
  );
  expect(items).toEqual(
    expect.arrayContaining([
      { key_id: kidOf(after), status: 'active' },
      expect.objectContaining({ key_id: first, status: 'retiring' }),
    ]),
  );
  expect(await call('POST', '/api/v1/admin/signing-keys/rotate', { as: 'admin' })).toMatchObject({
    status: 409,
    body: { code: 'signing_key.just_rotated' },
    headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
  });

  // It is in no place, and so told to the platform's administrator alone.
  const { items: rotations } = await done<{ items: object[] }>(
    'GET',
    '/api/v1/admin/audit?action=identity.signing_key.rotate',
    { as: 'admin' },
  );
  expect(rotations).toHaveLength(1);
}, 90_000);
