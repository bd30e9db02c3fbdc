import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { LIMITS } from '../../functions/platform/rates/rates.ts';
import { until } from '../until.ts';
import {
  type Account,
  type Answer,
  assertionOf,
  call,
  createAccount,
  createPlace,
  done,
  join,
  mint,
  type Place,
  rolesToBeKnown,
  tokenOf,
} from './people.ts';
import { findShownSecrets, findText, plant } from './planted-secrets.ts';

const { api_url } = inject('platform');
const TOKEN_PATHS = ['/api/v1/auth/service-account/token', '/api/v1/auth/sa/token'];

let place: Place;
let account: Account;
const projectPath = () => `/api/v1/projects/${place.project_id}`;

beforeAll(async () => {
  place = await createPlace('secrets');
  await join('developer', { ...place, role: 'project_admin' });
  account = await createAccount(place.project_id, 'secretive');
  await rolesToBeKnown();
});

/** As the quickstart sends it: the private key itself. */
const byPrivateKey = (path: string, { id, key_id, private_key_pem }: Account) =>
  call<{ access_token: string }>('POST', path, {
    body: { service_account_id: id, key_id, private_key_pem },
  });

describe('the headers of an answer', () => {
  test.each(TOKEN_PATHS)('to a private key sent to %s say that this way is deprecated', async (path) => {
    const { status, headers } = await byPrivateKey(path, account);
    expect(status).toBe(200);
    // RFC 9745 §2.1
    expect(headers['deprecation']).toMatch(/^@\d+$/);
    expect(headers['link']).toBe(`<${api_url}/docs>; rel="deprecation"; type="text/html"`);
    expect(headers['cache-control']).toBe('no-store');
  });

  test('to an assertion say nothing of the kind', async () => {
    const { status, headers } = await mint(account);
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('deprecation');
  });

  test('to who is not known say how to make oneself known', async () => {
    const answers = [
      await call('GET', '/api/v1/me'),
      await call('GET', '/api/v1/me', { token: 'x.y.z' }),
      await call('POST', TOKEN_PATHS[0] as string, { body: { assertion: 'x.y.z' } }),
    ];
    for (const { status, headers } of answers) {
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBe('Bearer realm="gpuaas"');
    }
  });

  test('say where a caller stands with the limits', async () => {
    const { headers } = await call('GET', projectPath(), { as: 'developer' });
    expect(headers['ratelimit-policy']).toBe('"principal";q=200;w=4, "org";q=1000;w=5');
    expect(headers['ratelimit']).toMatch(/^"principal";r=\d+;t=\d+, "org";r=\d+;t=\d+$/);
  });
});

// What is secret goes everywhere a client might put it, rightly or by mistake, before the logs are looked through.
describe('a secret', () => {
  const seen = `secrets-${randomUUID()}`;
  const known = { headers: { 'x-request-id': seen } };

  test('of a service account is used, and misused', async () => {
    const path = `${projectPath()}/service-accounts`;
    const rotated = await done<Account>('POST', `${path}/${account.id}/rotate-key`, {
      as: 'developer',
      body: {},
      ...known,
    });
    const { private_key_pem } = rotated;
    const credentials = { service_account_id: account.id, key_id: rotated.key_id, private_key_pem };
    const assertion = await assertionOf(rotated);
    const { access_token } = (await byPrivateKey(TOKEN_PATHS[0] as string, rotated)).body;
    const misused: [string, unknown][] = [
      // Raw newlines are tolerated here; a body that is cut off is not.
      ['/api/v1/auth/sa/token', JSON.stringify(credentials).replaceAll(String.raw`\n`, '\n')],
      ['/api/v1/auth/sa/token', JSON.stringify(credentials).slice(0, -2)],
      ['/api/v1/auth/sa/token', { ...credentials, key_id: account.key_id }],
      ['/api/v1/auth/sa/token', { ...credentials, assertion }],
      ['/api/v1/auth/sa/token', { assertion: private_key_pem }],
      ['/api/v1/auth/sa/token', { assertion }],
      ['/api/v1/auth/sa/token', { assertion }],
      ['/api/v1/auth/sa/token', { assertion: `${assertion.slice(0, -6)}AAAAAA` }],
      [path, { name: private_key_pem, slug: access_token, [access_token]: assertion }],
      [`${path}/${encodeURIComponent(access_token)}/disable`, {}],
      [`${path}/${account.id}/enable?access_token=${access_token}&assertion=${assertion}`, {}],
      [`/${access_token}`, {}],
    ];
    const answers: Answer[] = [];
    for (const [path, body] of misused) answers.push(await call('POST', path, { as: 'developer', body }));
    expect(answers.map(({ status }) => status)).toEqual([
      200, 400, 401, 400, 401, 200, 401, 401, 400, 400, 400, 404,
    ]);
    for (const { text } of answers.filter(({ status }) => status >= 400)) {
      expect(text).not.toContain(private_key_pem.split('\n')[1]);
      expect(text).not.toContain(access_token);
      expect(text).not.toContain(assertion);
    }
    await call('GET', '/api/v1/me', {
      token: `${access_token}x`,
      headers: { cookie: `token=${access_token}` },
    });
    await call('GET', '/api/v1/me', { headers: { authorization: `Basic ${access_token}` } });
  });

  test('of an invitation is told once, and used once', async () => {
    const invited = await done<{ invitation_token: string }>(
      'POST',
      `/api/v1/orgs/${place.org_id}/invitations`,
      {
        as: 'admin',
        body: { email: 'operator@example.com', role: 'viewer', project_id: place.project_id },
      },
    );
    const { invitation_token } = invited;
    const accept = (as: 'viewer' | 'operator', body: object) =>
      call('POST', '/api/v1/invitations/accept', { as, body });
    expect((await accept('viewer', { invitation_token })).status).toBe(403);
    expect((await accept('operator', { token: invitation_token })).status).toBe(400);
    await done('POST', '/api/v1/invitations/accept', { as: 'operator', body: { invitation_token } });
    expect((await accept('operator', { invitation_token })).status).toBe(404);
  });

  test('of a ticket opens a socket, once', async () => {
    const path = `${projectPath()}/events/tickets`;
    const { ticket, socket_url } = await done<{ ticket: string; socket_url: string }>('POST', path, {
      as: 'developer',
    });
    for (const outcome of ['open', 'error']) {
      const socket = new WebSocket(`${socket_url}?ticket=${ticket}`);
      const heard = await new Promise<string>((resolve) => {
        for (const event of ['open', 'error']) socket.addEventListener(event, () => resolve(event));
      });
      expect(heard).toBe(outcome);
      socket.close();
    }
    expect((await call('GET', `${projectPath()}?ticket=${ticket}`, { as: 'developer' })).status).toBe(400);
  });

  test('that comes again with the same idempotency key lies sealed meanwhile', async () => {
    const key = randomBytes(24).toString('base64url');
    plant('an idempotency key', key);
    const create = () =>
      call<Account>('POST', `${projectPath()}/service-accounts`, {
        as: 'developer',
        body: { name: 'Sealed', slug: 'sealed' },
        key,
      });
    const first = await create();
    expect(first.status).toBe(201);
    expect((await create()).body).toEqual(first.body);
  });

  test('of all these can be read in no log, no event and no item', async () => {
    const isTold = async () => {
      const { items } = await done<{ items: { correlation_id: string }[] }>(
        'GET',
        `${projectPath()}/events`,
        {
          as: 'admin',
        },
      );
      return items.some(({ correlation_id }) => correlation_id === seen);
    };
    await until(isTold, 'the events to be told');
    plant('a bearer token', await tokenOf('admin'));
    expect(await findShownSecrets()).toEqual([]);

    // The same search finds what is no secret, in every place there is.
    const found = await until(async () => {
      const places = await findText(seen);
      return places.some((each) => each === 'an event on the bus') && places;
    }, 'the request’s id on the bus');
    for (const kind of [/^the log /, /^the item AUDIT#/, /^the item OUTBOX#/, /^the item FEED#/])
      expect(found).toContainEqual(expect.stringMatching(kind));
  });
});

describe('who tries credentials at leisure', () => {
  test('is soon told to wait, and how long; and nobody else is', async () => {
    const guess = () => call('POST', TOKEN_PATHS[0] as string, { body: { assertion: 'x.y.z' } });
    // Each of a few warm functions counts for itself.
    const triesMax = LIMITS.token.quota * 5;
    let answer = await guess();
    for (let tries = 1; answer.status === 401 && tries < triesMax; tries += 1) answer = await guess();
    expect(answer).toMatchObject({ status: 429, body: { code: 'rate.exceeded', retryable: true } });
    expect(answer.headers['content-type']).toBe('application/problem+json');
    const { 'retry-after': retryAfter, ratelimit, 'ratelimit-policy': policy } = answer.headers;
    expect(policy).toBe('"token";q=60;w=60');
    expect(ratelimit).toMatch(/^"token";r=0;t=\d+$/);
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
    expect(Number(retryAfter)).toBeLessThanOrEqual(2);

    const elsewhere = await fetch(api_url + TOKEN_PATHS[0], {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assertion: 'x.y.z' }),
    });
    expect(elsewhere.status).toBe(401);
    expect((await call('GET', projectPath(), { as: 'developer' })).status).toBe(200);

    await wait(Number(retryAfter) * 1000);
    expect((await mint(account)).status).toBe(200);
  }, 90_000);
});
