// A service account: how a machine acts in one project.

import * as v from 'valibot';
import { AccountKeyId, OrgId, ProjectId, ServiceAccountId, textOf } from '../platform/ids.ts';
import type { ScopedProject } from '../platform/scope.ts';
import { secondsAfter } from '../platform/clock.ts';
import { event } from '../platform/events.ts';
import {
  type Permission,
  PERMISSIONS,
  type Role,
  ROLES,
  SERVICE_ACCOUNT_ROLES,
} from '../platform/permissions.ts';
import { PublicJwk } from '../platform/auth/token-shape.ts';
import { AccountSlug, Description, Name, Time } from '../platform/name.ts';
import { refuse } from './problems.ts';

/** One that signs, and two that were rotated out and still work for a while. */
const KEYS_MAX = 3;
const OVERLAP_SECONDS_DEFAULT = 3_600;
const OVERLAP_SECONDS_MAX = 7 * 24 * 3_600;

const GivenRole = v.picklist(SERVICE_ACCOUNT_ROLES);
const Status = v.picklist(['active', 'disabled']);

/** In any order, and twice if need be; kept once each, sorted. */
const GivenPermissions = v.pipe(
  v.array(v.picklist(PERMISSIONS)),
  v.minLength(1),
  v.maxLength(PERMISSIONS.length),
);

/** People give one of a few, or `custom` by a list; the platform gives `app` to an app instance. */
const AnyRole = v.picklist(Object.keys(ROLES) as Role[]);

const AccountKey = v.object({
  key_id: textOf<AccountKeyId>(),
  public_key_jwk: PublicJwk,
  created_at: v.string(),
  /** From then on the key is refused; without it, it works until it is rotated out. */
  not_after: v.optional(v.string()),
});
export type AccountKey = v.InferOutput<typeof AccountKey>;

export const ServiceAccount = v.object({
  id: textOf<ServiceAccountId>(),
  project_id: textOf<ProjectId>(),
  org_id: textOf<OrgId>(),
  name: v.string(),
  slug: textOf<AccountSlug>(),
  description: v.string(),
  role: AnyRole,
  /** Of the role `custom` alone. */
  permissions: v.optional(v.array(v.picklist(PERMISSIONS))),
  status: Status,
  keys: v.array(AccountKey),
  created_at: v.string(),
  version: v.number(),
});
export type ServiceAccount = v.InferOutput<typeof ServiceAccount>;

export const ServiceAccountParams = v.object({ service_account_id: ServiceAccountId });

export const CreateServiceAccount = v.strictObject({
  name: Name,
  slug: AccountSlug,
  description: v.optional(Description, ''),
  /** Without a role and without a list, `app_operator`. */
  role: v.optional(GivenRole),
  /** What the account may do, one by one, in place of a role. */
  permissions: v.optional(GivenPermissions),
});

export const ChangeServiceAccount = v.pipe(
  v.strictObject({
    name: v.optional(Name),
    description: v.optional(Description),
    role: v.optional(GivenRole),
    permissions: v.optional(GivenPermissions),
  }),
  v.minEntries(1),
);

export const RotateServiceAccountKey = v.strictObject({
  /** How long the keys before the new one keep working; 0 ends them at once. */
  overlap_seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(OVERLAP_SECONDS_MAX)),
    OVERLAP_SECONDS_DEFAULT,
  ),
});

export const ServiceAccountView = v.object({
  id: ServiceAccountId,
  project_id: ProjectId,
  org_id: OrgId,
  name: Name,
  slug: AccountSlug,
  description: Description,
  role: AnyRole,
  /** Only where the role is `custom`. */
  permissions: v.optional(v.array(v.picklist(PERMISSIONS))),
  status: Status,
  keys: v.array(v.object({ key_id: AccountKeyId, created_at: Time, not_after: v.optional(Time) })),
  created_at: Time,
  version: v.number(),
});
export type ServiceAccountView = v.InferOutput<typeof ServiceAccountView>;

/** Told once; later replays of the same request leave the private key out. */
export const ServiceAccountWithKey = v.object({
  ...ServiceAccountView.entries,
  key_id: AccountKeyId,
  private_key_pem: v.optional(v.string()),
});

/** What an account may do: a role, or a list that stands for one. */
type Abilities = Pick<ServiceAccount, 'role' | 'permissions'>;

/** The role or the list that was asked for; nothing where neither was. */
export function readAbilities({
  role,
  permissions,
}: {
  role?: Role | undefined;
  permissions?: Permission[] | undefined;
}): Abilities | undefined {
  if (role !== undefined && permissions !== undefined) {
    const detail = 'Expected either role or permissions.';
    throw refuse('request.invalid', { faults: [{ pointer: '/permissions', detail }] });
  }
  if (permissions) return { role: 'custom', permissions };
  return role && { role };
}

export const DEFAULT_ABILITIES: Abilities = { role: 'app_operator' };

const kept = ({ role, permissions }: Abilities): Abilities => ({
  role,
  ...(permissions && { permissions: [...new Set(permissions)].sort() }),
});

export function planServiceAccount(
  { name, slug, description }: v.InferOutput<typeof CreateServiceAccount>,
  abilities: Abilities,
  project: ScopedProject,
  id: ServiceAccountId,
  key: AccountKey,
): ServiceAccount {
  if (project.status === 'archived') throw refuse('project.archived');
  return {
    id,
    project_id: project.id,
    org_id: project.org_id,
    name,
    slug,
    description,
    ...kept(abilities),
    status: 'active',
    keys: [key],
    created_at: key.created_at,
    version: 1,
  };
}

export function changeAccount(
  account: ServiceAccount,
  { name = account.name, description = account.description }: v.InferOutput<typeof ChangeServiceAccount>,
  abilities: Abilities = account,
): ServiceAccount {
  const { role: _role, permissions: _permissions, ...rest } = account;
  return { ...rest, ...kept(abilities), name, description, version: account.version + 1 };
}

export function disableAccount(account: ServiceAccount): ServiceAccount {
  return { ...account, status: 'disabled', version: account.version + 1 };
}

export function enableAccount(account: ServiceAccount): ServiceAccount {
  return { ...account, status: 'active', version: account.version + 1 };
}

/** Ended keys are removed; working keys get an end, never later than the one they had. */
export function rotateKey(
  account: ServiceAccount,
  key: AccountKey,
  overlapSeconds: number,
  now: Date,
): ServiceAccount {
  const end = secondsAfter(now, overlapSeconds).toISOString();
  const overlapping = account.keys
    .map((each) => ({ ...each, not_after: each.not_after && each.not_after < end ? each.not_after : end }))
    .filter((each) => isWorking(each, now));
  if (overlapping.length >= KEYS_MAX) {
    throw refuse('service_account.too_many_keys', {
      detail: 'Set overlap_seconds to 0 to end the earlier keys.',
    });
  }
  return { ...account, keys: [...overlapping, key], version: account.version + 1 };
}

function isWorking({ not_after }: AccountKey, now: Date): boolean {
  return not_after === undefined || now < new Date(not_after);
}

/** The key a caller may prove itself with; nothing where there is none, for whatever reason. */
export function findWorkingKey(
  account: ServiceAccount,
  keyId: AccountKeyId,
  now: Date,
): AccountKey | undefined {
  if (account.status !== 'active') return undefined;
  return account.keys.find((key) => key.key_id === keyId && isWorking(key, now));
}

export function viewServiceAccount({ keys, ...account }: ServiceAccount): ServiceAccountView {
  return { ...account, keys: keys.map(viewKey) };
}

function viewKey({ key_id, created_at, not_after }: AccountKey): ServiceAccountView['keys'][number] {
  return { key_id, created_at, ...(not_after !== undefined && { not_after }) };
}

export const subjectOf = ({ id }: ServiceAccount): string => `service_account:${id}`;

const Told = v.object({
  service_account_id: ServiceAccountId,
  slug: AccountSlug,
  role: AnyRole,
  permissions: v.optional(v.array(v.picklist(PERMISSIONS))),
  status: Status,
});

const tell = ({ id, ...account }: ServiceAccount) => ({ service_account_id: id, ...account });

export const ServiceAccountCreated = event('identity.service_account.created', 1, Told, tell);
export const ServiceAccountChanged = event('identity.service_account.changed', 1, Told, tell);
export const ServiceAccountDisabled = event('identity.service_account.disabled', 1, Told, tell);
export const ServiceAccountEnabled = event('identity.service_account.enabled', 1, Told, tell);
export const ServiceAccountKeyRotated = event('identity.service_account.key_rotated', 1, Told, tell);
export const ServiceAccountDeleted = event('identity.service_account.deleted', 1, Told, tell);
