import { randomInt, randomUUID } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, inject } from 'vitest';
import { obtainToken } from '../../bin/token/obtain-token.ts';
import { signAssertion } from '../api/world.ts';
import { until } from '../until.ts';
import { plant } from './planted-secrets.ts';
import { AUTHORIZATION_CACHE_SECONDS } from './platform-copy.ts';

const { api_url, oidc_issuer } = inject('platform');

export type Person = 'admin' | 'owner' | 'developer' | 'operator' | 'viewer' | 'outsider';

export interface Asked {
  as?: Person;
  token?: string;
  /** Text is sent as it is. */
  body?: unknown;
  /** The idempotency key; a new one for every command that names none. */
  key?: string;
  headers?: Record<string, string>;
}

export interface Answer<T = Record<string, unknown>> {
  status: number;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  rawHeaders: string[];
  text: string;
  body: T;
}

/** Limits count by address: every file has one of its own, so that one's burst is not another's refusal. */
export const localAddress = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
const agent = new Agent({ keepAlive: true, maxSockets: 16, localAddress });

const SECRETS = [
  'private_key_pem',
  'access_token',
  'invitation_token',
  'ticket',
  'join_token',
  'wrapping_token',
  'password',
  'upload_path',
  'signature_upload_path',
  'provenance_upload_path',
];

const tokens = new Map<Person, Promise<string>>();

/** Signed in once for the whole file. */
export function tokenOf(person: Person): Promise<string> {
  const known = tokens.get(person) ?? signIn(person);
  tokens.set(person, known);
  return known;
}

async function signIn(person: Person): Promise<string> {
  return (await obtainToken({ issuer: oidc_issuer, email: `${person}@example.com` })).access_token;
}

/** One request over HTTP. What is secret in it, or in what comes back, is kept in mind. */
export async function call<T = Record<string, unknown>>(
  method: string,
  path: string,
  { as, token, body, key, headers = {} }: Asked = {},
): Promise<Answer<T>> {
  const bearer = token ?? (as && (await tokenOf(as)));
  if (bearer !== undefined) plant('a bearer token', bearer);
  const answer = await send(method, path, body, {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    ...(method !== 'GET' && { 'x-idempotency-key': key ?? randomUUID() }),
    ...headers,
  });
  const isJson = /json/.test(answer.headers['content-type'] ?? '') && answer.text !== '';
  const parsed = (isJson ? JSON.parse(answer.text) : {}) as T;
  for (const name of SECRETS) {
    const secret = (parsed as Record<string, unknown> | null)?.[name];
    if (typeof secret === 'string') plant(`${name} of ${method} ${path}`, secret);
  }
  return { ...answer, body: parsed };
}

function send(
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Omit<Answer, 'body'>> {
  const content = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  // Not every method makes Node tell the length by itself.
  const length = content === undefined ? {} : { 'content-length': String(Buffer.byteLength(content)) };
  // In parts: put together they would be parsed, and an odd path made even.
  const { hostname, port } = new URL(api_url);
  const options = { hostname, port, path, method, agent, headers: { ...length, ...headers } };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0, headers, rawHeaders } = response;
        resolve({ status: statusCode, headers, rawHeaders, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    sent.on('error', reject);
    sent.end(content);
  });
}

/** A call that must succeed. Somebody else may be changing the same person, and then it is made again. */
export async function done<T>(method: string, path: string, asked: Asked): Promise<T> {
  const answer = await until(async () => {
    const answer = await call<T & { code?: string }>(method, path, asked);
    return answer.body.code !== 'request.conflict' && answer;
  }, `${method} ${path}`);
  expect(answer.status, `${method} ${path} answered ${answer.text}`).toBeLessThan(300);
  return answer.body;
}

/** Versions wait for their smoke run to be reported, whatever policy the platform was started with. */
export async function awaitPeopleAtSmoke(): Promise<void> {
  const body = { smoke: { gate: 'person' }, reason: 'Somebody tries every version.' };
  await done('PUT', '/api/v1/admin/apps/promotion-policy', { as: 'admin', body });
}

export interface Place {
  org_id: string;
  project_id: string;
}

/** An organisation with a project, for one test file alone; its slugs begin with the name. */
export async function createPlace(name: string): Promise<Place> {
  const slug = `${name}-${randomUUID().slice(0, 8)}`;
  const org = await done<{ id: string }>('POST', '/api/v1/orgs', { as: 'admin', body: { name, slug } });
  return { org_id: org.id, project_id: await createProject(org.id, slug) };
}

export async function createProject(orgId: string, slug: string): Promise<string> {
  const body = { name: slug, slug };
  const path = `/api/v1/orgs/${orgId}/projects`;
  return (await done<{ id: string }>('POST', path, { as: 'admin', body })).id;
}

/** Somebody is invited and accepts; in a project when it is named, else in the whole organisation. */
export async function join(
  person: Person,
  { org_id, ...role }: { org_id: string; project_id?: string; role: string },
): Promise<string> {
  const { invitation_token } = await done<{ invitation_token: string }>(
    'POST',
    `/api/v1/orgs/${org_id}/invitations`,
    { as: 'admin', body: { email: `${person}@example.com`, ...role } },
  );
  const { user_id } = await done<{ user_id: string }>('POST', '/api/v1/invitations/accept', {
    as: person,
    body: { invitation_token },
  });
  return user_id;
}

/** Until every warm function must have heard of the roles that were given: that is promised by time alone. */
export function rolesToBeKnown(): Promise<void> {
  return wait(AUTHORIZATION_CACHE_SECONDS * 1000);
}

export interface Account {
  id: string;
  key_id: string;
  private_key_pem: string;
}

export async function createAccount(
  projectId: string,
  slug: string,
  as: Person = 'admin',
  more: object = {},
): Promise<Account> {
  const body = { name: slug, slug, ...more };
  return done<Account>('POST', `/api/v1/projects/${projectId}/service-accounts`, { as, body });
}

export async function assertionOf(account: Account, claims: Record<string, unknown> = {}): Promise<string> {
  const assertion = await signAssertion(account, { aud: api_url, ...claims });
  plant('an assertion', assertion);
  return assertion;
}

/** Asks for a token with a fresh assertion. */
export async function mint(account: Account): Promise<Answer<{ access_token: string; expires_in: number }>> {
  return call('POST', '/api/v1/auth/service-account/token', {
    body: { assertion: await assertionOf(account) },
  });
}
