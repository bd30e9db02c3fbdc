import * as v from 'valibot';
import { put, remove, putNew, update, type Write } from '../platform/data/commit.ts';
import { orgKey, projectKey, userKey } from '../platform/data/keys.ts';
import { type OrgId, type PlaceId, textOf, type UserId } from '../platform/ids.ts';
import type { PageOf } from '../platform/page.ts';
import type { Grant } from '../platform/permissions.ts';
import { readItem } from '../platform/data/table.ts';
import { MEMBER_ROWS, memberKey, placePartition } from './keys.ts';
import { changesBetween, type MemberPlace, MemberView, viewMember } from './member.ts';
import { Org } from './org.ts';
import { type PageAsked, readItems, readRows } from '../platform/data/rows.ts';
import { User } from './user.ts';
import { refuse } from './problems.ts';

export async function findUser(id: UserId): Promise<User | undefined> {
  const item = await readItem(userKey(id));
  return item && v.parse(User, item);
}

/** A person and the organisation whose admins may become fewer, by one request. */
export async function findUserAndOrg(
  userId: UserId,
  orgId: OrgId,
): Promise<{ user: User | undefined; org: Org }> {
  const [user, org] = await readItems([userKey(userId), orgKey(orgId)]);
  if (!org) throw refuse('org.unknown');
  return { user: user && v.parse(User, user), org: v.parse(Org, org) };
}

export async function listMembers(place: MemberPlace, page: PageAsked): Promise<PageOf<MemberView>> {
  const { items, next_cursor } = await readRows(placePartition(place), MEMBER_ROWS, page);
  return { items: items.map((item) => v.parse(MemberView, item)), next_cursor };
}

const Named = v.object({ id: textOf<PlaceId>(), slug: v.string(), name: v.string() });
export type Named = v.InferOutput<typeof Named>;

/** What the organisations and projects of these grants are called, by id. */
export async function namePlaces(grants: Grant[]): Promise<Map<PlaceId, Named>> {
  const orgs = new Set(grants.flatMap(({ org_id }) => org_id ?? []));
  const projects = new Set(grants.flatMap(({ project_id }) => project_id ?? []));
  const items = await readItems([...[...orgs].map(orgKey), ...[...projects].map(projectKey)]);
  return new Map(items.flatMap((item) => (item ? [named(v.parse(Named, item))] : [])));
}

const named = (place: Named): [PlaceId, Named] => [place.id, place];

/** All that follows from a person's roles changing: their own item, the rows of the places, the counts of admins. */
export function saveMembership(before: User, after: User): Write[] {
  return before === after ? [] : [...countAdmins(before, after), ...saveRoles(before, after)];
}

/** As `saveMembership`, for an organisation that is new itself and comes with its count. */
export function saveRoles(before: User, after: User): Write[] {
  return [saveUser(before, after), ...saveRows(before, after)];
}

function saveUser(before: User, after: User): Write {
  if (before.version === 0) return putNew({ ...userKey(after.id), ...after });
  return update(userKey(after.id), {
    update: 'SET grants = :grants, version = :after',
    condition: 'version = :before',
    values: { ':grants': after.grants, ':after': after.version, ':before': before.version },
  });
}

// The rows need no condition: the version of the user item allows only one change at a time, and a missing row must
// not keep a role from being removed.
function saveRows(before: User, after: User): Write[] {
  const { entered, left } = changesBetween(before, after);
  return [
    ...entered.map((grant) => put({ ...memberKey(grant, after.id), ...viewMember(after, grant) })),
    ...left.map((grant) => remove(memberKey(grant, after.id))),
  ];
}

function countAdmins(before: User, after: User): Write[] {
  return [...changesBetween(before, after).adminsAdded].map(([orgId, added]) =>
    update(
      orgKey(orgId),
      {
        update: 'SET admin_count = admin_count + :added',
        condition: 'admin_count >= :least',
        // The last admin stays; the first one may come.
        values: { ':added': added, ':least': added < 0 ? 1 - added : 0 },
      },
      refuse(added < 0 ? 'member.last_admin' : 'org.unknown'),
    ),
  );
}
