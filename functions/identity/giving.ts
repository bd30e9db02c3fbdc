// Nobody gives what they do not hold: neither a role, nor a list of permissions, nor the key of an account that may do
// more than they may.

import type { Actor } from '../platform/actor.ts';
import type { InputFault } from '../platform/errors.ts';
import { type Grant, judge, type Permission, permissionsOf, type Place } from '../platform/permissions.ts';
import { refuse } from './problems.ts';

/** Whoever gives something in a place, with what they may do as it is now. */
export interface Giver {
  actor: Actor;
  grants: readonly Grant[];
  place: Place;
}

type Given = Pick<Grant, 'role' | 'permissions'>;

/** Refuses a role or a list of permissions, naming each that the giver lacks in this place. */
export function requireGiveable(giver: Giver, given: Given): void {
  const lacking = lackingOf(giver, given);
  if (lacking.length > 0)
    throw refuse('permission.not_held', { faults: lacking.map((permission) => faultOf(given, permission)) });
}

/** Whoever has the key of an account can do what it can. */
export function requireCredentials(giver: Giver, account: Given & { id: string }): void {
  requireOther(giver, account);
  const lacking = lackingOf(giver, account);
  if (lacking.length > 0)
    throw refuse('permission.not_held', {
      detail: `The service account may do what you may not: ${lacking.join(', ')}.`,
    });
}

/** A stolen token must not outlive itself: what an account may do and its keys are for others to change. */
export function requireOther({ actor }: Giver, { id }: { id: string }): void {
  if (actor.kind === 'service_account' && actor.id === id) throw refuse('service_account.own');
}

// Only people pass on the right to manage service accounts; otherwise one account that is disabled could leave any
// number of others behind.
function lackingOf({ actor, grants, place }: Giver, given: Given): Permission[] {
  return permissionsOf(given).filter(
    (permission) =>
      judge(grants, permission, place) !== 'allowed' ||
      (actor.kind === 'service_account' && permission === 'service_account.write'),
  );
}

function faultOf({ permissions }: Given, permission: Permission): InputFault {
  return permissions
    ? {
        pointer: `/permissions/${permissions.indexOf(permission)}`,
        detail: `You cannot give ${permission} here.`,
      }
    : { pointer: '/role', detail: `The role includes ${permission}, which you cannot give here.` };
}
