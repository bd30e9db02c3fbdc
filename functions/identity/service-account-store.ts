import type { Refusal } from '../platform/errors.ts';
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { callerNow } from '../platform/auth/caller.ts';
import { type Context, projectOf } from '../platform/context.ts';
import { putNew, remove, requireThat, update, type Write } from '../platform/data/commit.ts';
import { projectKey, serviceAccountKey } from '../platform/data/keys.ts';
import { lowerCased, type ProjectId, type ServiceAccountId } from '../platform/ids.ts';
import type { PageOf } from '../platform/page.ts';
import { readItem } from '../platform/data/table.ts';
import { type PageAsked, readGathered } from '../platform/data/rows.ts';
import type { Giver } from './giving.ts';
import { assertionKey, projectAccounts, slugKey } from './service-account-keys.ts';
import { ServiceAccount } from './service-account.ts';
import { refuse } from './problems.ts';

/** The slug's own row keeps it unique in the project. */
export function insertServiceAccount(account: ServiceAccount): Write[] {
  const { id, project_id, slug } = account;
  return [
    requireThat(
      projectKey(project_id),
      { condition: '#status = :active', names: { '#status': 'status' }, values: { ':active': 'active' } },
      refuse('project.archived'),
    ),
    putNew({ ...slugKey(project_id, slug), service_account_id: id }, refuse('service_account.slug_taken')),
    putNew({ ...serviceAccountKey(id), ...account, gsi1pk: projectAccounts(project_id), gsi1sk: id }),
  ];
}

/** An account of another project is as unknown as one that never was. */
export async function findServiceAccount(
  projectId: ProjectId,
  id: ServiceAccountId,
): Promise<ServiceAccount> {
  return requireIn(projectId, await findAnyServiceAccount(id));
}

function requireIn(projectId: ProjectId, account: ServiceAccount | undefined): ServiceAccount {
  if (account?.project_id !== projectId) throw refuse('service_account.unknown');
  return account;
}

/** The account, and whoever is to change it as they stand now, by one request. */
export async function findAccountAndGiver(
  ctx: Context,
  id: ServiceAccountId,
): Promise<{ account: ServiceAccount; giver: Giver }> {
  const project = projectOf(ctx);
  const { grants, items } = await callerNow(ctx, [serviceAccountKey(lowerCased(id))]);
  return {
    account: requireIn(project.id, v.parse(v.optional(ServiceAccount), items[0])),
    giver: { actor: ctx.actor, grants, place: { org_id: project.org_id, project_id: project.id } },
  };
}

/** For whoever proves to be the account; everybody else asks in a project. */
export async function findAnyServiceAccount(id: ServiceAccountId): Promise<ServiceAccount | undefined> {
  const item = await readItem(serviceAccountKey(lowerCased(id)));
  return item && v.parse(ServiceAccount, item);
}

export async function listProjectAccounts(
  projectId: ProjectId,
  page: PageAsked,
): Promise<PageOf<ServiceAccount>> {
  const { items, next_cursor } = await readGathered(projectAccounts(projectId), serviceAccountKey, page);
  return { items: items.map((item) => v.parse(ServiceAccount, item)), next_cursor };
}

/** A concurrent change of the account wins; this one is decided again. */
export function saveServiceAccount(
  before: ServiceAccount,
  after: ServiceAccount,
  stale: Refusal | undefined,
): Write {
  const { name, description, role, permissions, status, keys, version } = after;
  return update(
    serviceAccountKey(before.id),
    {
      update:
        'SET #name = :name, description = :description, #role = :role, #status = :status, #keys = :keys, version = :version' +
        (permissions ? ', #permissions = :permissions' : ' REMOVE #permissions'),
      condition: 'version = :before',
      names: {
        '#name': 'name',
        '#role': 'role',
        '#status': 'status',
        '#keys': 'keys',
        '#permissions': 'permissions',
      },
      values: {
        ':name': name,
        ':description': description,
        ':role': role,
        ':status': status,
        ':keys': keys,
        ':version': version,
        ':before': before.version,
        ...(permissions && { ':permissions': permissions }),
      },
    },
    stale,
  );
}

export function removeServiceAccount(account: ServiceAccount, stale: Refusal | undefined): Write[] {
  const { id, project_id, slug, version } = account;
  return [
    remove(
      serviceAccountKey(id),
      { condition: 'version = :version', values: { ':version': version } },
      stale,
    ),
    remove(slugKey(project_id, slug), { condition: 'service_account_id = :id', values: { ':id': id } }),
  ];
}

/** An assertion is good once. It is remembered for longer than it can be presented. */
export function spendAssertion(claimantId: string, jti: string, expiresAtSeconds: number): Write {
  const hash = createHash('sha256').update(jti).digest('hex');
  return putNew(
    { ...assertionKey(claimantId, hash), expires_at: expiresAtSeconds },
    refuse('auth.assertion_refused'),
  );
}
