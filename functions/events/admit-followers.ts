import * as v from 'valibot';
import type { Clock } from '../platform/clock.ts';
import { authorizationCache } from '../platform/auth/authorization-cache.ts';
import { serviceAccountKey, userKey } from '../platform/data/keys.ts';
import { type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import { type Grant, judge, PERMISSIONS, type Place, ROLES, type Role } from '../platform/permissions.ts';
import type { Key } from '../platform/data/table.ts';
import { type Admission, placeFollowed, type TicketHolder } from './ticket.ts';

/** As many as one request may ask for. */
const KEYS_MAX = 100;

const RoleName = v.picklist(Object.keys(ROLES) as Role[]);
const User = v.object({
  grants: v.array(
    v.object({ role: RoleName, org_id: textOf<OrgId>(), project_id: v.optional(textOf<ProjectId>()) }),
  ),
});
const ServiceAccount = v.object({
  project_id: textOf<ProjectId>(),
  org_id: textOf<OrgId>(),
  role: RoleName,
  permissions: v.optional(v.array(v.picklist(PERMISSIONS))),
  status: v.literal('active'),
});

/**
 * The followers who may still read the events of the place. A connection outlives its token by hours, so permissions
 * are checked again here; a removed permission takes effect within seconds, as everywhere.
 */
export async function admitFollowers<T extends Admission>(
  followers: T[],
  place: Place,
  now: Clock,
): Promise<T[]> {
  const holders = followers.flatMap(({ holder }) => (holder && !holder.everywhere ? [holder] : []));
  const grants = await readGrants(holders, now);
  return followers.filter(({ holder }) => {
    if (!holder) return false;
    return holder.everywhere || judge(grants.get(keyOf(holder).pk) ?? [], 'event.read', place) === 'allowed';
  });
}

/** Whether a ticket or a connection is still good. As everywhere, a no is given on what was just read. */
export async function mayFollow(admission: Admission, now: Clock): Promise<boolean> {
  const isAdmitted = async () =>
    (await admitFollowers([admission], placeFollowed(admission), now)).length > 0;
  if (!admission.holder) return false;
  if (await isAdmitted()) return true;
  authorizationCache.forget([keyOf(admission.holder)]);
  return isAdmitted();
}

async function readGrants(holders: TicketHolder[], now: Clock): Promise<Map<string, Grant[]>> {
  const keys = [...new Map(holders.map((holder) => [keyOf(holder).pk, keyOf(holder)])).values()];
  const grants = new Map<string, Grant[]>();
  for (let start = 0; start < keys.length; start += KEYS_MAX) {
    const some = keys.slice(start, start + KEYS_MAX);
    const items = await authorizationCache.read(some, now);
    some.forEach(({ pk }, index) => grants.set(pk, grantsIn(items[index])));
  }
  return grants;
}

function grantsIn(item: Record<string, unknown> | undefined): Grant[] {
  const user = v.safeParse(User, item);
  if (user.success) return user.output.grants;
  const account = v.safeParse(ServiceAccount, item);
  return account.success ? [account.output] : [];
}

function keyOf({ kind, id }: TicketHolder): Key {
  return kind === 'user' ? userKey(id) : serviceAccountKey(id);
}
