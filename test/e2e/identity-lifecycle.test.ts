import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../functions/routes.ts';
import { until } from '../until.ts';
import {
  type Account,
  type Answer,
  assertionOf,
  call,
  createAccount,
  done,
  mint,
  rolesToBeKnown,
} from './people.ts';
import { dataDir, findShownSecrets } from './planted-secrets.ts';
import { AUTHORIZATION_CACHE_SECONDS } from './platform-copy.ts';

interface AuditRow {
  id: string;
  at: string;
  actor: string;
  action: string;
  subject: string;
  correlation_id: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}
interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

const TOKEN_PATH = '/api/v1/auth/service-account/token';
const slug = `lifecycle-${randomUUID().slice(0, 8)}`;

let orgId: string;
let projectId: string;
const orgPath = () => `/api/v1/orgs/${orgId}`;
const projectPath = () => `/api/v1/projects/${projectId}`;

/** So to whoever asks after the time that is promised, in every warm copy of the function. */
async function expectSoon(
  ask: () => Promise<Answer<{ code?: string }>>,
  wanted: { status: number; code?: string },
): Promise<void> {
  const promised = Date.now() + AUTHORIZATION_CACHE_SECONDS * 1000;
  // Asked meanwhile too, so that there is something to remember.
  while (Date.now() < promised) {
    await ask();
    await wait(200);
  }
  const answers = await Promise.all(Array.from({ length: 8 }, ask));
  for (const { status, body } of answers)
    expect({ status, code: body.code }).toEqual({ code: undefined, ...wanted });
}

describe('an organisation and its people', () => {
  let invitation: { id: string; invitation_token: string };
  let developerId: string;

  test('an organisation begins with an invitation to its administrator', async () => {
    const created = await call<{ id: string; invitation_token: string }>('POST', '/api/v1/orgs', {
      as: 'admin',
      body: { name: 'Lifecycle', slug, invite_admin_email: 'owner@example.com' },
    });
    expect(created.status).toBe(201);
    orgId = created.body.id;
    expect(created.headers.location).toBe(orgPath());
    const { invitation_token } = created.body;
    expect(await call('GET', orgPath(), { as: 'owner' })).toMatchObject({ status: 404 });
    await done('POST', '/api/v1/invitations/accept', { as: 'owner', body: { invitation_token } });
    await rolesToBeKnown();
    expect(await call('GET', orgPath(), { as: 'owner' })).toMatchObject({ status: 200, body: { slug } });
  });

  test('the administrator creates a project, renames it, and two cannot have the same slug', async () => {
    const body = { name: 'First', slug };
    const created = await call<{ id: string }>('POST', `${orgPath()}/projects`, { as: 'owner', body });
    expect(created).toMatchObject({
      status: 201,
      headers: { etag: '"1"' },
      body: { slug, status: 'active' },
    });
    projectId = created.body.id;
    expect(await call('POST', `${orgPath()}/projects`, { as: 'owner', body })).toMatchObject({
      status: 409,
      body: { code: 'project.slug_taken' },
    });
    const rename = (name: string, seen: string) =>
      call('PATCH', projectPath(), { as: 'owner', body: { name }, headers: { 'if-match': seen } });
    expect(await rename('Second', '"1"')).toMatchObject({ status: 200, headers: { etag: '"2"' } });
    expect(await rename('Third', '"1"')).toMatchObject({
      status: 412,
      body: { code: 'precondition.failed' },
    });
  });

  test('an invitation is for one person, once', async () => {
    invitation = await done('POST', `${orgPath()}/invitations`, {
      as: 'owner',
      body: { email: 'developer@example.com', role: 'viewer', project_id: projectId },
    });
    const listed = await done<Page<Record<string, unknown>>>('GET', `${orgPath()}/invitations`, {
      as: 'owner',
    });
    expect(listed.items).toMatchObject([{ id: invitation.id, email: 'developer@example.com' }]);
    expect(JSON.stringify(listed)).not.toContain(invitation.invitation_token);

    const { invitation_token } = invitation;
    const accept = (as: 'outsider' | 'developer') =>
      call<{ user_id: string }>('POST', '/api/v1/invitations/accept', { as, body: { invitation_token } });
    expect(await accept('outsider')).toMatchObject({ status: 403, body: { code: 'invitation.other_email' } });
    const accepted = await until(async () => {
      const answer = await accept('developer');
      return answer.status !== 409 && answer;
    }, 'the invitation to be accepted');
    expect(accepted).toMatchObject({ status: 200, body: { role: 'viewer', project_id: projectId } });
    developerId = accepted.body.user_id;
    expect(await accept('developer')).toMatchObject({ status: 404, body: { code: 'invitation.unknown' } });
  });

  test('a revoked invitation is worth nothing', async () => {
    const revoked = await done<typeof invitation>('POST', `${orgPath()}/invitations`, {
      as: 'owner',
      body: { email: 'viewer@example.com', role: 'viewer' },
    });
    expect(await call('DELETE', `${orgPath()}/invitations/${revoked.id}`, { as: 'owner' })).toMatchObject({
      status: 204,
      text: '',
    });
    const { invitation_token } = revoked;
    expect(
      await call('POST', '/api/v1/invitations/accept', { as: 'viewer', body: { invitation_token } }),
    ).toMatchObject({ status: 404, body: { code: 'invitation.unknown' } });
  });

  test('a role can be changed, and the new one counts as soon as the old one is forgotten', async () => {
    const readAudit = () => call<{ code?: string }>('GET', `${projectPath()}/audit`, { as: 'developer' });
    await expectSoon(readAudit, { status: 403, code: 'permission.denied' });
    const path = `${projectPath()}/members/${developerId}`;
    await done('PUT', path, { as: 'owner', body: { role: 'project_admin' } });
    await expectSoon(readAudit, { status: 200 });
    const { items } = await done<Page<object>>('GET', `${projectPath()}/members`, { as: 'owner' });
    expect(items).toMatchObject([{ user_id: developerId, role: 'project_admin' }]);
  });

  test('a removed member’s token, still valid, stops working as soon as the role is forgotten', async () => {
    await done('DELETE', `${projectPath()}/members/${developerId}`, { as: 'owner' });
    await expectSoon(() => call('GET', projectPath(), { as: 'developer' }), {
      status: 404,
      code: 'project.unknown',
    });
    expect(await call('GET', '/api/v1/me', { as: 'developer' })).toMatchObject({ status: 200 });
  });

  test('the last administrator cannot go', async () => {
    const me = await done<{ id: string }>('GET', '/api/v1/me', { as: 'owner' });
    const path = `${orgPath()}/members/${me.id}`;
    const refused = { status: 409, body: { code: 'member.last_admin' } };
    expect(await call('DELETE', path, { as: 'owner' })).toMatchObject(refused);
    expect(await call('PUT', path, { as: 'owner', body: { role: 'viewer' } })).toMatchObject(refused);
  });

  test('an archived project is read, takes nothing new, and comes back', async () => {
    await done('POST', `${projectPath()}/archive`, { as: 'owner' });
    expect(await call('GET', projectPath(), { as: 'owner' })).toMatchObject({ body: { status: 'archived' } });
    expect(
      await call('POST', `${projectPath()}/service-accounts`, {
        as: 'owner',
        body: { name: 'late', slug: 'late' },
      }),
    ).toMatchObject({ status: 409, body: { code: 'project.archived' } });
    await done('POST', `${projectPath()}/unarchive`, { as: 'owner' });
  });
});

describe('a service account', () => {
  let account: Account;
  let token: string;
  const accountPath = () => `${projectPath()}/service-accounts/${account.id}`;
  const act = (verb: string, body: object = {}) =>
    done<Account>('POST', `${accountPath()}/${verb}`, { as: 'owner', body });
  const use = () => call<{ code?: string }>('GET', projectPath(), { token });

  test('is created with a key that is told once', async () => {
    account = await until(
      () => createAccount(projectId, 'robot', 'owner').catch(() => undefined),
      'the project to be known as active again',
    );
    expect(account.private_key_pem).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    const read = await call('GET', accountPath(), { as: 'owner' });
    expect(read).toMatchObject({ status: 200, body: { role: 'app_operator', status: 'active' } });
    expect(read.text).not.toMatch(/PRIVATE|public_key/);
  });

  test('gets a token by assertion and acts with it, within its role', async () => {
    const minted = await mint(account);
    expect(minted).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 900 } });
    expect(minted.headers).not.toHaveProperty('deprecation');
    token = minted.body.access_token;
    expect(await use()).toMatchObject({ status: 200, body: { id: projectId } });
    expect(await call('PATCH', projectPath(), { token, body: { name: 'Robot' } })).toMatchObject({
      status: 403,
      body: { code: 'permission.denied' },
    });
  });

  test('uses an assertion once, on either path', async () => {
    const body = { assertion: await assertionOf(account) };
    expect((await call('POST', '/api/v1/auth/sa/token', { body })).status).toBe(200);
    for (const path of [TOKEN_PATH, '/api/v1/auth/sa/token'])
      expect(await call('POST', path, { body })).toMatchObject({
        status: 401,
        body: { code: 'auth.assertion_refused' },
      });
  });

  test('once disabled is refused within the time that is set, with the token it holds and for a new one', async () => {
    await act('disable');
    expect((await mint(account)).status).toBe(401);
    await expectSoon(use, { status: 401, code: 'auth.revoked' });
  });

  test('once enabled works again, with the same token', async () => {
    await act('enable');
    expect((await mint(account)).status).toBe(200);
    await expectSoon(use, { status: 200 });
  });

  test('has two keys while they overlap, and one when an overlap of 0 ends the other', async () => {
    const second = { ...account, ...(await act('rotate-key', { overlap_seconds: 600 })) };
    expect(second.key_id).not.toBe(account.key_id);
    expect((await mint(account)).status).toBe(200);
    expect((await mint(second)).status).toBe(200);

    const third = { ...account, ...(await act('rotate-key', { overlap_seconds: 0 })) };
    expect((await mint(account)).status).toBe(401);
    expect((await mint(second)).status).toBe(401);
    expect((await mint(third)).status).toBe(200);
    account = third;
  });

  test('once deleted is gone, with its tokens within the time that is set', async () => {
    expect((await use()).status).toBe(200);
    await done('DELETE', accountPath(), { as: 'owner' });
    expect((await mint(account)).status).toBe(401);
    expect(await call('GET', accountPath(), { as: 'owner' })).toMatchObject({
      status: 404,
      body: { code: 'service_account.unknown' },
    });
    await expectSoon(use, { status: 401, code: 'auth.revoked' });
  });
});

/** Every row of a list, in pages of a few. */
async function readAll(path: string, query: Record<string, string>): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  let cursor: string | null = null;
  do {
    const asked = new URLSearchParams({ ...query, limit: '40', ...(cursor !== null && { cursor }) });
    const page: Page<AuditRow> = await done('GET', `${path}?${asked.toString()}`, { as: 'admin' });
    rows.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return rows;
}

describe('the audit', () => {
  let rows: AuditRow[];
  let since: string;
  const inProject = (query: Record<string, string> = {}) => readAll(`${projectPath()}/audit`, query);
  const everywhere = (query: Record<string, string>) =>
    readAll('/api/v1/admin/audit', { from: since, ...query });

  beforeAll(async () => {
    rows = await inProject();
    since = rows.at(-1)?.at ?? '';
  });

  test('has a row for each thing that was done in the project, newest first', () => {
    const count = Map.groupBy(rows, ({ action }) => action);
    const counts = Object.fromEntries([...count].map(([action, { length }]) => [action, length]));
    expect(counts).toMatchObject({
      'identity.project.create': 1,
      'identity.project.rename': 1,
      'identity.invitation.accept': 1,
      'identity.project_member.put': 1,
      'identity.project_member.remove': 1,
      'identity.project.archive': 1,
      'identity.project.unarchive': 1,
      'identity.service_account.create': 1,
      'identity.service_account.disable': 1,
      'identity.service_account.enable': 1,
      'identity.service_account.rotate_key': 2,
      'identity.service_account.delete': 1,
    });
    expect(rows.map(({ id }) => id)).toEqual(
      rows
        .map(({ id }) => id)
        .sort()
        .toReversed(),
    );
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  test('says what was before and after', () => {
    const put = rows.find(({ action }) => action === 'identity.project_member.put');
    expect(put).toMatchObject({ before: { role: 'viewer' }, after: { role: 'project_admin' } });
    const disabled = rows.find(({ action }) => action === 'identity.service_account.disable');
    expect(disabled).toMatchObject({ before: { status: 'active' }, after: { status: 'disabled' } });
  });

  test('is read by action, by actor, by subject and by time', async () => {
    const sample = rows.filter(({ action }) => action.startsWith('identity.service_account.'));
    const { actor, action, subject } = sample[0] as AuditRow;
    expect(await inProject({ action })).toEqual(rows.filter((row) => row.action === action));
    expect(await inProject({ actor })).toEqual(rows.filter((row) => row.actor === actor));
    expect(await inProject({ subject })).toEqual(rows.filter((row) => row.subject === subject));
    expect(await inProject({ actor, action, subject })).toEqual(
      rows.filter((row) => row.actor === actor && row.action === action && row.subject === subject),
    );
    expect(await inProject({ actor: 'user:nobody' })).toEqual([]);
    const [from, to] = [sample.at(-1)?.at ?? '', sample[0]?.at ?? ''];
    expect(await inProject({ from, to })).toEqual(rows.filter((row) => row.at >= from && row.at <= to));
  });

  test('tells the platform’s administrator of every place', async () => {
    expect(
      (await readAll('/api/v1/admin/audit', { subject: `org:${orgId}` })).map(({ action }) => action),
    ).toEqual(['identity.org.create']);
    const created = await everywhere({ subject: `project:${projectId}`, action: 'identity.project.create' });
    expect(created).toEqual(rows.filter(({ action }) => action === 'identity.project.create'));
  });

  test('finds what came of a request by the request’s own id', async () => {
    const id = `find-${randomUUID()}`;
    await done('PATCH', projectPath(), {
      as: 'owner',
      body: { description: 'Looked for' },
      headers: { 'x-request-id': id },
    });
    const [latest] = await inProject({ action: 'identity.project.rename' });
    expect(latest).toMatchObject({ correlation_id: id, after: { description: 'Looked for' } });
  });

  test('is changed by no route', async () => {
    const mutating = Object.keys(routes).filter(
      (route) => !route.startsWith('GET') && route.includes('audit'),
    );
    expect(mutating).toEqual([]);
    const [{ id } = { id: '' }] = rows;
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      for (const path of [`${projectPath()}/audit`, `${projectPath()}/audit/${id}`, '/api/v1/admin/audit'])
        expect((await call<{ code: string }>(method, path, { as: 'admin', body: {} })).body.code).toMatch(
          /^route\.(unknown|method_not_allowed)$/,
        );
  });

  test('is changed by no role: rows can be added, and nothing else', () => {
    const grants = tableGrants().filter(({ partitions }) =>
      partitions.some((each) => covers(each, 'AUDIT#x')),
    );
    const actions = new Set(grants.flatMap(({ actions }) => actions));
    expect([...actions].sort()).toEqual(['dynamodb:PutItem', 'dynamodb:Query']);
  });
});

interface Statement {
  Effect: string;
  Action: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
}

interface PolicyHolder {
  PolicyDocument?: { Statement: Statement[] };
  Policies?: { PolicyDocument: { Statement: Statement[] } }[];
}

/** What any role of the template that runs here may do with items, and in which partitions. */
function tableGrants(): { actions: string[]; partitions: string[] }[] {
  const assembly = joinPath(dataDir, 'assembly');
  const templates = readdirSync(assembly).filter((file) => file.endsWith('.template.json'));
  const resources = templates.flatMap((file) => {
    const { Resources } = JSON.parse(readFileSync(joinPath(assembly, file), 'utf8')) as {
      Resources: Record<string, { Type: string; Properties?: PolicyHolder }>;
    };
    return Object.values(Resources).filter(({ Type }) => Type.startsWith('AWS::IAM::'));
  });
  const documents = resources.flatMap(({ Properties = {} }) => [
    ...(Properties.PolicyDocument ? [Properties.PolicyDocument] : []),
    ...(Properties.Policies ?? []).map(({ PolicyDocument }) => PolicyDocument),
  ]);
  return documents
    .flatMap(({ Statement }) => Statement)
    .filter(({ Effect }) => Effect === 'Allow')
    .map(({ Action, Condition }) => ({
      actions: [Action]
        .flat()
        .filter((action) => /^(\*|dynamodb:(?!.*Stream|.*Shard|GetRecords))/.test(action)),
      // A grant without a fence reaches everywhere.
      partitions: [Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? '*'].flat(),
    }))
    .filter(({ actions }) => actions.length > 0);
}

function covers(pattern: string, partition: string): boolean {
  const literal = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join('.*')}$`).test(partition);
}

test('nothing secret of all this can be read in a log, an event or an item', async () => {
  expect(await findShownSecrets()).toEqual([]);
});
