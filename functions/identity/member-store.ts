import * as v from 'valibot';
import { callerNow } from '../platform/auth/caller.ts';
import type { Context } from '../platform/context.ts';
import { put, remove, putNew, update, type Write } from '../platform/data/commit.ts';
import { orgKey, projectKey, userKey } from '../platform/data/keys.ts';
import { type OrgId, type PlaceId, textOf, type UserId } from '../platform/ids.ts';
import type { PageOf } from '../platform/page.ts';
import type { Grant } from '../platform/permissions.ts';
import { type Key, readItem } from '../platform/data/table.ts';
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

/** A person, and what whoever is to give them a role may do now, by one request. */
export async function findUserForCaller(
  ctx: Context,
  userId: UserId,
): Promise<{ user: User | undefined; grants: Grant[] }> {
  const { grants, items } = await callerNow(ctx, [userKey(userId)]);
  return { user: v.parse(v.optional(User), items[0]), grants };
}

/** As well as the organisation, whose admins may become fewer. */
export async function findUserAndOrg(
  ctx: Context,
  userId: UserId,
  orgId: OrgId,
): Promise<{ user: User | undefined; org: Org; grants: Grant[] }> {
  const {
    grants,
    items: [user, org],
  } = await callerNow(ctx, [userKey(userId), orgKey(orgId)]);
  if (!org) throw refuse('org.unknown');
  return { user: v.parse(v.optional(User), user), org: v.parse(Org, org), grants };
}

export async function listMembers(place: MemberPlace, page: PageAsked): Promise<PageOf<MemberView>> {
  const { items, next_cursor } = await readRows(placePartition(place), MEMBER_ROWS, page);
  return { items: items.map((item) => v.parse(MemberView, item)), next_cursor };
}

const Named = v.object({ id: textOf<PlaceId>(), slug: v.string(), name: v.string() });
export type Named = v.InferOutput<typeof Named>;

/**
 * What the caller holds now, and what the organisations and projects of it are called, by id. The places that are
 * remembered are read with the caller's own item, by one request; only what was just given takes another.
 */
export async function readCaller(ctx: Context): Promise<{ grants: Grant[]; names: Map<PlaceId, Named> }> {
  const remembered = placesOf(ctx.grants);
  const { grants, items } = await callerNow(ctx, [...remembered.values()]);
  const added = [...placesOf(grants)].flatMap(([id, key]) => (remembered.has(id) ? [] : [key]));
  const all = [...items, ...(await readItems(added))];
  const named = all.flatMap((item) => (item ? [v.parse(Named, item)] : []));
  return { grants, names: new Map(named.map((place) => [place.id, place])) };
}

function placesOf(grants: Grant[]): Map<PlaceId, Key> {
  return new Map(
    grants.flatMap(({ org_id, project_id }): [PlaceId, Key][] => [
      ...(org_id === undefined ? [] : [[org_id, orgKey(org_id)] as [PlaceId, Key]]),
      ...(project_id === undefined ? [] : [[project_id, projectKey(project_id)] as [PlaceId, Key]]),
    ]),
  );
}

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
