import * as v from 'valibot';
import { epochSeconds } from '../platform/clock.ts';
import { putNew, remove, type Write } from '../platform/data/commit.ts';
import { userKey } from '../platform/data/keys.ts';
import type { InvitationId, OrgId, UserId } from '../platform/ids.ts';
import type { PageOf } from '../platform/page.ts';
import { readItem } from '../platform/data/table.ts';
import { Invitation } from './invitation.ts';
import { INVITATION_ROWS, invitationKey, invitationRowKey, placePartition } from './keys.ts';
import { type PageAsked, readItems, readRows } from '../platform/data/rows.ts';
import { User } from './user.ts';
import { refuse } from './problems.ts';

export async function findInvitation(orgId: OrgId, id: InvitationId): Promise<Invitation | undefined> {
  const item = await readItem(invitationRowKey(orgId, id));
  return item && v.parse(Invitation, item);
}

/** What a token stands for and who brings it, by one request. */
export async function findInvitationAndUser(
  tokenHash: string,
  userId: UserId,
): Promise<{ invitation: Invitation | undefined; user: User | undefined }> {
  const [invitation, user] = await readItems([invitationKey(tokenHash), userKey(userId)]);
  return { invitation: invitation && v.parse(Invitation, invitation), user: user && v.parse(User, user) };
}

export async function listInvitationsOf(orgId: OrgId, page: PageAsked): Promise<PageOf<Invitation>> {
  const { items, next_cursor } = await readRows(placePartition({ org_id: orgId }), INVITATION_ROWS, page);
  return { items: items.map((item) => v.parse(Invitation, item)), next_cursor };
}

/** Kept twice: where its token finds it, and where its organisation lists it. */
export function insertInvitation(invitation: Invitation): Write[] {
  return [
    putNew({ ...invitationKey(invitation.token_hash), ...invitation }),
    putNew({ ...invitationRowKey(invitation.org_id, invitation.id), ...invitation }),
  ];
}

/** Accepted or revoked, it is gone from both places; of many who try at once, one does it. */
export function removeInvitation(invitation: Invitation, now: Date): Write[] {
  const open = { condition: 'expires_at > :now', values: { ':now': epochSeconds(now) } };
  return [
    remove(invitationKey(invitation.token_hash), open, refuse('invitation.unknown')),
    remove(invitationRowKey(invitation.org_id, invitation.id), open, refuse('invitation.unknown')),
  ];
}
