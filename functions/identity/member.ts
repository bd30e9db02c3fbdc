// Who holds which role in which place. What a person holds is told by their user item; the rows by which a place
// lists its members, and the number of an organisation's admins, follow from it.

import * as v from 'valibot';
import { type DomainEvent, event } from '../platform/events.ts';
import { OrgId, ProjectId, textOf, UserId } from '../platform/ids.ts';
import { ORG_ROLES, PROJECT_ROLES, type Role } from '../platform/permissions.ts';
import { Time } from '../platform/name.ts';
import type { Org } from './org.ts';
import { type Membership, RoleName, type User } from './user.ts';
import { refuse } from './problems.ts';

/**
 * Organisations and projects together in which one person may hold roles: few enough that one read names them all,
 * and one transaction takes them all away.
 */
export const PLACES_MAX = 90;

export interface MemberPlace {
  org_id: OrgId;
  project_id?: ProjectId;
}

export const OrgMemberParams = v.object({ org_id: OrgId, user_id: UserId });
export const ProjectMemberParams = v.object({ project_id: ProjectId, user_id: UserId });

export const PutOrgMember = v.strictObject({ role: v.picklist(ORG_ROLES) });
export const PutProjectMember = v.strictObject({ role: v.picklist(PROJECT_ROLES) });

export const MemberView = v.object({
  user_id: UserId,
  email: v.optional(v.string()),
  role: RoleName,
  since: v.optional(Time),
});
export type MemberView = v.InferOutput<typeof MemberView>;

export const MemberPage = v.object({ items: v.array(MemberView), next_cursor: v.nullable(v.string()) });

function membershipAt(user: User, place: MemberPlace): Membership | undefined {
  return user.grants.find((grant) => isAt(grant, place));
}

/** Roles are given to people who came to the organisation by an invitation; nobody else is known there. */
export function requireKnown(user: User | undefined, orgId: OrgId): User {
  if (!user?.grants.some((grant) => grant.org_id === orgId)) throw refuse('member.unknown');
  return user;
}

export function requireMember(user: User | undefined, place: MemberPlace): User {
  if (!user || !membershipAt(user, place)) throw refuse('member.unknown');
  return user;
}

/** One role in one place: another role there takes the place of the first, and the time of joining stays. */
export function give(user: User, place: MemberPlace, role: Role, now: Date): User {
  const held = membershipAt(user, place);
  if (held?.role === role) return user;
  const given = { role, ...place, since: held?.since ?? now.toISOString() };
  const grants = held
    ? user.grants.map((grant) => (grant === held ? given : grant))
    : [...user.grants, given];
  if (countPlaces(grants) > PLACES_MAX) throw refuse('member.too_many_grants');
  return { ...user, grants, version: user.version + 1 };
}

export function takeFromProject(user: User, place: Required<MemberPlace>): User {
  return without(user, (grant) => isAt(grant, place));
}

/** Whoever leaves an organisation leaves all its projects. */
export function takeFromOrg(user: User, orgId: OrgId): User {
  return without(user, (grant) => grant.org_id === orgId);
}

interface MembershipChanges {
  /** New here, or here in another role. */
  entered: Membership[];
  left: Membership[];
  /** By how much the number of admins of each organisation grows; unchanged ones are left out. */
  adminsAdded: Map<OrgId, number>;
}

/** What follows for the places from what changed for the person. */
export function changesBetween(before: User, after: User): MembershipChanges {
  const adminsAdded = new Map<OrgId, number>();
  const count = (grants: Membership[], by: number): void => {
    for (const { org_id } of grants.filter(isOrgAdmin))
      adminsAdded.set(org_id, (adminsAdded.get(org_id) ?? 0) + by);
  };
  count(after.grants, 1);
  count(before.grants, -1);
  for (const [orgId, added] of adminsAdded) if (added === 0) adminsAdded.delete(orgId);
  return {
    entered: after.grants.filter((grant) => membershipAt(before, grant)?.role !== grant.role),
    left: before.grants.filter((grant) => !membershipAt(after, grant)),
    adminsAdded,
  };
}

/** Without an admin nobody in the organisation could let anyone in again. */
export function requireAdminLeft(org: Org, before: User, after: User): void {
  const added = changesBetween(before, after).adminsAdded.get(org.id) ?? 0;
  if (added < 0 && org.admin_count + added < 1) throw refuse('member.last_admin');
}

export function viewMember(
  { id, email }: Pick<User, 'id' | 'email'>,
  { role, since }: Membership,
): MemberView {
  return { user_id: id, ...(email !== undefined && { email }), role, ...(since !== undefined && { since }) };
}

/** How a person stands in a place, if they do. */
export function viewAt(user: User, place: MemberPlace): MemberView | undefined {
  const held = membershipAt(user, place);
  return held && viewMember(user, held);
}

const MemberTold = v.object({
  /** Not always a UUID: the creator of an organisation becomes its admin, and may not be a person. */
  user_id: textOf<UserId>(),
  org_id: OrgId,
  project_id: v.optional(ProjectId),
});

export const MemberAdded = event(
  'identity.member.added',
  1,
  v.object({ ...MemberTold.entries, role: RoleName }),
  (userId: UserId, held: Membership) => ({ user_id: userId, ...held }),
);

export const MemberRoleChanged = event(
  'identity.member.role_changed',
  1,
  v.object({ ...MemberTold.entries, role: RoleName, role_before: RoleName }),
  (userId: UserId, held: Membership, before: Role) => ({ user_id: userId, ...held, role_before: before }),
);

/** `left` names every place that was left: an organisation and its projects, or the one project. */
export const MemberRemoved = event(
  'identity.member.removed',
  1,
  v.object({ ...MemberTold.entries, project_ids: v.array(ProjectId) }),
  (userId: UserId, place: MemberPlace, left: Membership[]) => ({
    user_id: userId,
    ...place,
    project_ids: left.flatMap(({ project_id }) => project_id ?? []),
  }),
);

/** How a role came about, told as an event; none when nothing changed. */
export function entryEvents(before: User, after: User): DomainEvent[] {
  return changesBetween(before, after).entered.map((entered) => {
    const held = membershipAt(before, entered);
    return held ? MemberRoleChanged(after.id, entered, held.role) : MemberAdded(after.id, entered);
  });
}

function without(user: User, goes: (grant: Membership) => boolean): User {
  return { ...user, grants: user.grants.filter((grant) => !goes(grant)), version: user.version + 1 };
}

function countPlaces(grants: Membership[]): number {
  return new Set(grants.flatMap(({ org_id, project_id }) => [org_id, project_id ?? org_id])).size;
}

function isAt(grant: MemberPlace, place: MemberPlace): boolean {
  return grant.org_id === place.org_id && grant.project_id === place.project_id;
}

function isOrgAdmin({ role, project_id }: Membership): boolean {
  return role === 'org_admin' && project_id === undefined;
}
