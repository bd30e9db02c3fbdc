import type { Clock } from '../platform/clock.ts';
import { authorizationCache } from '../platform/auth/authorization-cache.ts';
import { grantOfAccount, grantsOfUser } from '../platform/auth/grants.ts';
import { serviceAccountKey, userKey } from '../platform/data/keys.ts';
import { type Grant, judge, type Place } from '../platform/permissions.ts';
import type { Key } from '../platform/data/table.ts';
import { type Admission, placeFollowed, type TicketHolder } from './ticket.ts';

/** As many as one request may ask for. */
const KEYS_MAX = 100;

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
  const known = [...new Map(holders.map((holder) => [keyOf(holder).pk, holder])).values()];
  const grants = new Map<string, Grant[]>();
  for (let start = 0; start < known.length; start += KEYS_MAX) {
    const some = known.slice(start, start + KEYS_MAX);
    const items = await authorizationCache.read(some.map(keyOf), now);
    some.forEach((holder, index) => grants.set(keyOf(holder).pk, grantsIn(holder, items[index])));
  }
  return grants;
}

function grantsIn({ kind }: TicketHolder, item: unknown): Grant[] {
  if (kind === 'user') return grantsOfUser(item);
  const grant = grantOfAccount(item);
  return grant ? [grant] : [];
}

function keyOf({ kind, id }: TicketHolder): Key {
  return kind === 'user' ? userKey(id) : serviceAccountKey(id);
}
