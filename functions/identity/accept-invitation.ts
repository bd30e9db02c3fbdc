import { command } from '../platform/http/endpoint.ts';
import { environment } from '../platform/environment.ts';
import { hashOneTimeToken } from '../platform/auth/one-time-token.ts';
import {
  AcceptInvitation,
  InvitationAccepted,
  InvitationAcceptedView,
  placeOf,
  requireAddress,
  requireAddressee,
  requireOpen,
} from './invitation.ts';
import { findInvitationAndUser, removeInvitation } from './invitation-store.ts';
import { entryEvents, give, viewAt } from './member.ts';
import { saveMembership } from './member-store.ts';
import { newcomer } from './user.ts';
import { refuse } from './problems.ts';

export const acceptInvitation = command(
  {
    summary: 'Accept an invitation',
    action: 'identity.invitation.accept',
    body: AcceptInvitation,
    reply: InvitationAcceptedView,
    refusals: [
      'invitation.unknown',
      'invitation.email_unverified',
      'invitation.email_unknown',
      'invitation.other_email',
      'permission.denied',
      'member.last_admin',
      'member.too_many_grants',
    ],
  },
  async (ctx, { body }) => {
    const { actor } = ctx;
    // Service accounts get their role from their project, and from nowhere else.
    if (actor.kind !== 'user') throw refuse('permission.denied');
    requireAddress({ ...ctx, email: actor.email }, invitationsWithoutEmail());
    const found = await findInvitationAndUser(hashOneTimeToken(body.invitation_token), actor.id);
    const invitation = requireOpen(found.invitation, ctx.now());
    requireAddressee(invitation, actor.email);
    const place = placeOf(invitation);
    const before = found.user ?? newcomer(actor.id, actor.email);
    const after = give(before, place, invitation.role, ctx.now());
    return {
      subject: `invitation:${invitation.id}`,
      place,
      before: viewAt(before, place),
      after: viewAt(after, place),
      // The invitation comes first: of concurrent requests all but one are refused because it is used.
      writes: [...removeInvitation(invitation, ctx.now()), ...saveMembership(before, after)],
      events: [InvitationAccepted(invitation, after.id), ...entryEvents(before, after)],
      reply: { user_id: after.id, role: invitation.role, ...place },
    };
  },
);

/** Only where the deployment says so in as many words. */
function invitationsWithoutEmail(): 'refused' | 'accepted' {
  return environment('INVITATIONS_WITHOUT_EMAIL') === 'accepted' ? 'accepted' : 'refused';
}
