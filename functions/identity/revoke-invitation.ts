import { orgOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased } from '../platform/ids.ts';
import { InvitationParams, InvitationRevoked, requireOpen, viewInvitation } from './invitation.ts';
import { findInvitation, removeInvitation } from './invitation-store.ts';

export const revokeInvitation = command(
  {
    summary: 'Revoke an invitation that has not been accepted',
    action: 'identity.invitation.revoke',
    params: InvitationParams,
    status: 204,
    refusals: ['invitation.unknown'],
  },
  async (ctx, { params }) => {
    const found = await findInvitation(orgOf(ctx).id, lowerCased(params.invitation_id));
    const invitation = requireOpen(found, ctx.now());
    return {
      subject: `invitation:${invitation.id}`,
      before: viewInvitation(invitation),
      writes: removeInvitation(invitation, ctx.now()),
      events: [InvitationRevoked(invitation)],
      reply: {},
    };
  },
);
