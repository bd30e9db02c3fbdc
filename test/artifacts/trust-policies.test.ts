import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { trustHeadKey } from '../../functions/artifacts/keys.ts';
import { REVOKED_CERTIFICATES_MAX } from '../../functions/trust/revoked-certificate.ts';
import { readTrust } from '../../functions/artifacts/read-trust.ts';
import { TRUST_POLICIES_MAX } from '../../functions/trust/trust-policy.ts';
import { toPem } from '../../sdk/signing/certificates.ts';
import type { Body } from '../api/recipe.ts';
import { openScene } from '../api/scene.ts';
import { type Answer, openWorld, type World } from '../api/world.ts';
import { at, issueAuthority, issueRoot, kitOf, keyOf, publicPem } from '../trust/admission-kit.ts';
import { builderOf } from '../trust/admission-provenance.ts';

const POLICIES = '/api/v1/admin/artifacts/trust-policies';
const REVOKED = '/api/v1/admin/artifacts/revoked-certificates';

let world: World;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  token = (await openScene(world).platformAdmin()).token;
});
beforeEach(() => world.clear());
afterAll(() => world.close());

const long = { notBefore: at(-10), notAfter: at(5_000) };
const root = issueRoot('P-256', long);

const policy = (change: object = {}) => ({
  repository_pattern: 'gpuaas/apps/example/*',
  roots: [toPem(root.certificate)],
  identities: ['CN=release,O=Example'],
  ...change,
});

type Told = Answer & { body: Body };

const call = async (
  method: 'GET' | 'PUT' | 'DELETE',
  name: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Told> =>
  (await world.call(`${method} ${POLICIES}/{policy_name}`, {
    params: { policy_name: name },
    token,
    ...(body !== undefined && { body }),
    ...(headers && { headers }),
  })) as Told;

const revoke = async (method: 'PUT' | 'DELETE', fingerprint: string, reason?: string): Promise<Told> =>
  (await world.call(`${method} ${REVOKED}/{fingerprint}`, {
    params: { fingerprint },
    token,
    ...(reason !== undefined && { body: { reason } }),
  })) as Told;

const list = async (path: string, query: Record<string, string> = {}): Promise<Body> =>
  (await world.call(`GET ${path}`, { token, query })).body as Body;

describe('a trust policy', () => {
  test('is put, read, changed and removed, each change under the next number', async () => {
    const made = await call('PUT', 'example', policy());
    expect(made).toMatchObject({ status: 200, headers: { etag: '"1"' } });
    expect(made.body).toMatchObject({
      name: 'example',
      description: '',
      provenance: { required: false, builders: [], source_repositories: [] },
      version: 1,
    });
    expect((await call('GET', 'example')).body).toEqual(made.body);
    expect(await readTrust()).toEqual({ revision: 1, policies: [made.body], revoked: [] });

    const changed = await call('PUT', 'example', policy({ identities: ['O=Example'] }), {
      'if-match': '"1"',
    });
    expect(changed.body).toMatchObject({
      identities: ['O=Example'],
      version: 2,
      created_at: made.body['created_at'],
    });
    expect((await readTrust()).revision).toBe(2);

    const stale = await call('PUT', 'example', policy(), { 'if-match': '"1"' });
    expect(stale).toMatchObject({ status: 412, body: { code: 'precondition.failed' } });
    expect(await call('DELETE', 'example', undefined, { 'if-match': '"1"' })).toMatchObject({ status: 412 });
    expect(await call('DELETE', 'example', undefined, { 'if-match': '"2"' })).toMatchObject({ status: 204 });
    expect(await call('GET', 'example')).toMatchObject({
      status: 404,
      body: { code: 'trust_policy.unknown' },
    });
    expect(await call('DELETE', 'example')).toMatchObject({ status: 404 });
    expect(await readTrust()).toEqual({ revision: 3, policies: [], revoked: [] });
  });

  test('is audited by the fingerprints of its certificates and keys, and told in an event', async () => {
    const builder = builderOf(kitOf('P-256'));
    await call(
      'PUT',
      'example',
      policy({
        provenance: { required: true, builders: [builder], source_repositories: ['https://code.example/*'] },
      }),
    );
    const [row] = (await world.items('AUDIT#')) as Body[];
    expect(row).toMatchObject({ action: 'artifacts.trust_policy.put', subject: 'trust_policy:example' });
    expect(row?.['after']).toMatchObject({
      roots: [hash('sha256', root.certificate)],
      provenance: { builders: [{ public_keys: [expect.stringMatching(/^[0-9a-f]{64}$/)] }] },
    });
    expect(JSON.stringify(row)).not.toContain('BEGIN');
    const [outbox] = (await world.items('OUTBOX#')) as Body[];
    expect(outbox?.['event']).toMatchObject({
      type: 'apps.trust.policy_changed',
      data: { policy_name: 'example', repository_pattern: 'gpuaas/apps/example/*', version: 1 },
    });
  });

  test('has a pattern of its own, which is free again when it goes', async () => {
    await call('PUT', 'first', policy());
    expect(await call('PUT', 'second', policy())).toMatchObject({
      status: 409,
      body: { code: 'trust_policy.pattern_taken', detail: 'The policy first has this pattern.' },
    });
    await call('PUT', 'first', policy({ repository_pattern: '*' }));
    expect(await call('PUT', 'second', policy())).toMatchObject({ status: 200 });
    await call('DELETE', 'first');
    expect(await call('PUT', 'third', policy({ repository_pattern: '*' }))).toMatchObject({ status: 200 });
  });

  test('of two put at once under one pattern is one', async () => {
    const answers = await Promise.all(['a1', 'a2', 'a3', 'a4'].map((name) => call('PUT', name, policy())));
    expect(answers.map(({ status }) => String(status)).sort()).toEqual(['200', '409', '409', '409']);
    expect((await readTrust()).policies).toHaveLength(1);
  });

  test('is one too many after so many', async () => {
    const patterns = Object.fromEntries(
      Array.from({ length: TRUST_POLICIES_MAX }, (_, index) => [`p${index}`, `gpuaas/apps/p${index}/*`]),
    );
    await world.put({ ...trustHeadKey(), revision: 100, patterns, revoked_count: 0 });
    expect(await call('PUT', 'more', policy())).toMatchObject({
      status: 409,
      body: { code: 'trust_policy.too_many' },
    });
    expect(await call('PUT', 'p7', policy())).toMatchObject({ status: 200 });
  });

  test('is listed by name, in pages', async () => {
    for (const name of ['b2', 'a1', 'c3'])
      await call('PUT', name, policy({ repository_pattern: `gpuaas/apps/${name}/*` }));
    const first = await list(POLICIES, { limit: '2' });
    expect((first['items'] as Body[]).map(({ name }) => name as string)).toEqual(['a1', 'b2']);
    const second = await list(POLICIES, { limit: '2', cursor: first['next_cursor'] as string });
    expect((second['items'] as Body[]).map(({ name }) => name as string)).toEqual(['c3']);
    expect(second['next_cursor']).toBeNull();
  });

  test.each([
    '',
    'gpuaas/apps',
    'gpuaas/apps/',
    'gpuaas/apps/Example/*',
    'gpuaas/apps/example',
    'gpuaas/apps/exam*',
    'gpuaas/apps/*/demo',
    'gpuaas/apps/a/b/c',
    'gpuaas/*',
    '**',
    'evil/apps/a/b',
  ])('cannot be for %j', async (repository_pattern) => {
    const { status, body } = await call('PUT', 'example', policy({ repository_pattern }));
    expect({ status, errors: body['errors'] }).toMatchObject({
      status: 400,
      errors: [{ pointer: '/repository_pattern' }],
    });
  });

  test.each(['https://*', '*', 'https://code.example/exam*', 'code.example/a', 'https://co*de/a', ''])(
    'cannot take its source from %j',
    async (source) => {
      const provenance = { required: false, builders: [], source_repositories: [source] };
      const { status, body } = await call('PUT', 'example', policy({ provenance }));
      expect({ status, errors: body['errors'] }).toMatchObject({
        status: 400,
        errors: [{ pointer: '/provenance/source_repositories/0' }],
      });
    },
  );

  test('that is wrong is told everything that is wrong with it at once', async () => {
    const kit = kitOf('P-256');
    const wrong = policy({
      roots: [
        'x',
        toPem(kit.signer.certificate),
        toPem(issueAuthority(root, 'P-256').certificate),
        toPem(issueRoot('P-256', { keyUsage: ['digitalSignature'] }).certificate),
        toPem(issueRoot('P-256', { notBefore: at(-100), notAfter: at(-50) }).certificate),
        toPem(issueRoot('P-256', { signatureHash: 'sha1' }).certificate),
        toPem(root.certificate) + toPem(root.certificate),
        publicPem(root.privateKey),
      ],
      identities: ['CN=release', 'release', 'CN=a;O=b'],
      provenance: {
        required: true,
        builders: [
          builderOf(kit, { public_keys: ['x', publicPem(keyOf('RSA-2560', 'signer'))] }),
          builderOf(kit),
        ],
        source_repositories: [],
      },
    });
    const { status, body } = await call('PUT', 'example', wrong);
    expect(status).toBe(400);
    expect((body['errors'] as Body[]).map(({ pointer }) => pointer as string)).toEqual([
      ...Array.from({ length: 8 }, (_, index) => `/roots/${index}`),
      '/identities/1',
      '/identities/2',
      '/provenance/builders/0/public_keys/0',
      '/provenance/builders/0/public_keys/1',
      '/provenance/builders/1/builder_id',
      '/provenance/source_repositories',
    ]);
    for (const { detail } of body['errors'] as Body[]) expect(detail).toMatch(/^Expected .*\.$/);
    expect((await readTrust()).revision).toBe(0);
  });
});

describe('a certificate', () => {
  const fingerprint = hash('sha256', 'a certificate');

  test('is revoked, revoked for another reason, and restored', async () => {
    const first = await revoke('PUT', fingerprint, 'The key was lost');
    expect(first).toMatchObject({ status: 200, body: { fingerprint, reason: 'The key was lost' } });
    const second = await revoke('PUT', fingerprint, 'The key was stolen');
    expect(second.body).toEqual({ ...first.body, reason: 'The key was stolen' });
    expect(await readTrust()).toEqual({ revision: 2, policies: [], revoked: [second.body] });
    expect((await list(REVOKED))['items']).toEqual([second.body]);
    expect(await world.get(trustHeadKey())).toMatchObject({ revoked_count: 1 });
    expect(await revoke('DELETE', fingerprint)).toMatchObject({ status: 204 });
    expect(await revoke('DELETE', fingerprint)).toMatchObject({
      status: 404,
      body: { code: 'certificate.unknown' },
    });
    expect(await world.get(trustHeadKey())).toMatchObject({ revision: 3, revoked_count: 0 });
    const events = ((await world.items('OUTBOX#')) as { event: Body }[]).map(
      ({ event }) => event['type'] as string,
    );
    expect(events.sort()).toEqual([
      'apps.trust.certificate_restored',
      'apps.trust.certificate_revoked',
      'apps.trust.certificate_revoked',
    ]);
  });

  test('is one too many after so many', async () => {
    await world.put({
      ...trustHeadKey(),
      revision: 5,
      patterns: {},
      revoked_count: REVOKED_CERTIFICATES_MAX,
    });
    expect(await revoke('PUT', fingerprint, 'Lost')).toMatchObject({
      status: 409,
      body: { code: 'certificate.too_many' },
    });
  });

  test.each(['', 'x', 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(62)}:a`])(
    'cannot be named %j',
    async (name) => {
      expect(await revoke('PUT', name, 'Lost')).toMatchObject({ status: 400 });
    },
  );

  test('is revoked by twenty at once, and all of them are', async () => {
    const names = Array.from({ length: 20 }, (_, index) => hash('sha256', `certificate ${index}`));
    const persist = async (name: string): Promise<void> => {
      const { status, body } = await revoke('PUT', name, 'Lost');
      if (status === 200) return;
      expect(body).toMatchObject({ retryable: true });
      await persist(name);
    };
    await Promise.all(names.map(persist));
    expect((await readTrust()).revoked.map((each) => each.fingerprint)).toEqual(names.toSorted());
    expect(await world.get(trustHeadKey())).toMatchObject({ revoked_count: 20, revision: 20 });
  });
});

describe('everything trust is judged by', () => {
  test('is read whole, however much it is', async () => {
    const row = (await call('PUT', 'p0', policy())).body;
    const head = { ...trustHeadKey(), revision: 9, patterns: {}, revoked_count: 300 };
    await world.put(head);
    for (let index = 1; index < 60; index += 1)
      await world.put({
        pk: head.pk,
        sk: `POLICY#p${index}`,
        ...row,
        name: `p${index}`,
        // Large enough for several pages of DynamoDB.
        identities: Array.from({ length: 50 }, (_, each) => `CN=${'x'.repeat(480)},O=${each}`),
      });
    for (let index = 0; index < 30; index += 1)
      await world.put({
        pk: head.pk,
        sk: `REVOKED#${index}`,
        fingerprint: `${index}`,
        reason: 'Lost',
        revoked_at: '',
        revoked_by: '',
      });
    const before = world.requests();
    const trust = await readTrust();
    expect([trust.revision, trust.policies.length, trust.revoked.length]).toEqual([9, 60, 30]);
    expect(world.requests() - before).toBeLessThanOrEqual(3);
  });
});
