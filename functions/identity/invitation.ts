// An invitation: a secret that, used once, gives its bearer one role in one place.

import * as v from 'valibot';
import type { WithoutEmail } from '../platform/actor.ts';
import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import { event } from '../platform/events.ts';
import { InvitationId, OrgId, ProjectId, textOf, UserId } from '../platform/ids.ts';
import { ORG_ROLES, PROJECT_ROLES, type Role } from '../platform/permissions.ts';
import type { MemberPlace } from './member.ts';
import { Email, OneTimeToken, Time } from '../platform/name.ts';
import { RoleName } from './user.ts';
import { refuse } from './problems.ts';

const OPEN_SECONDS = 7 * 24 * 3600;

export const InvitationParams = v.object({ org_id: OrgId, invitation_id: InvitationId });

export const CreateInvitation = v.strictObject({
  email: Email,
  role: v.picklist([...new Set([...ORG_ROLES, ...PROJECT_ROLES])]),
  /** Without one, the role is for the whole organisation. */
  project_id: v.optional(ProjectId),
});

export const AcceptInvitation = v.strictObject({ invitation_token: OneTimeToken });

export const InvitationView = v.object({
  id: InvitationId,
  email: Email,
  role: RoleName,
  org_id: OrgId,
  project_id: v.optional(ProjectId),
  invited_by: v.string(),
  created_at: Time,
  expires_at: Time,
});
export type InvitationView = v.InferOutput<typeof InvitationView>;

/** The token is in the first answer and in no other. */
export const InvitationCreatedView = v.object({
  ...InvitationView.entries,
  invitation_token: v.optional(OneTimeToken),
});

export const InvitationPage = v.object({
  items: v.array(InvitationView),
  next_cursor: v.nullable(v.string()),
});

export const InvitationAcceptedView = v.object({
  user_id: UserId,
  role: RoleName,
  org_id: OrgId,
  project_id: v.optional(ProjectId),
});

export const Invitation = v.object({
  id: textOf<InvitationId>(),
  email: v.string(),
  role: RoleName,
  org_id: textOf<OrgId>(),
  project_id: v.optional(textOf<ProjectId>()),
  token_hash: v.string(),
  invited_by: v.string(),
  created_at: v.string(),
  /** Seconds since 1970: the table forgets it then by itself. */
  expires_at: v.number(),
});
export type Invitation = v.InferOutput<typeof Invitation>;

export function planInvitation(
  id: InvitationId,
  wanted: { email: string; role: Role; place: MemberPlace },
  by: { tokenHash: string; actor: string },
  now: Date,
): Invitation {
  requireFitting(wanted.role, wanted.place);
  return {
    id,
    email: wanted.email.toLowerCase(),
    role: wanted.role,
    ...wanted.place,
    token_hash: by.tokenHash,
    invited_by: by.actor,
    created_at: now.toISOString(),
    expires_at: epochSeconds(secondsAfter(now, OPEN_SECONDS)),
  };
}

/** The table removes what has expired when it gets to it, so that alone does not say what is open. */
export function isOpen({ expires_at }: Invitation, now: Date): boolean {
  return expires_at > epochSeconds(now);
}

/** Used, revoked, expired and unknown invitations get the same answer, so that it reveals nothing. */
export function requireOpen(invitation: Invitation | undefined, now: Date): Invitation {
  if (!invitation || !isOpen(invitation, now)) throw refuse('invitation.unknown');
  return invitation;
}

const ADDRESS_ADVICE: Record<WithoutEmail, Parameters<typeof refuse>> = {
  unverified: [
    'invitation.email_unverified',
    { detail: 'Verify your address where you sign in, sign in again, then accept the invitation.' },
  ],
  unreadable: [
    'invitation.email_unknown',
    {
      detail:
        'What you sign in with is not an e-mail address the platform can read. Set another one where you sign in, verify it, sign in again, then accept the invitation.',
    },
  ],
  missing: [
    'invitation.email_unknown',
    {
      detail:
        'Your sign-in came without an e-mail address. Add one where you sign in, verify it, sign in again, then accept the invitation.',
    },
  ],
  untold: [
    'invitation.email_unknown',
    {
      detail:
        'The service you sign in with tells the platform no e-mail addresses. Ask whoever operates the platform.',
    },
  ],
};

/**
 * Whoever accepts must have an address that is shown to be theirs. Where an issuer tells no addresses at all, `untold`
 * says what the deployment has decided. Judged before the invitation is looked up: nothing is learnt of it.
 */
export function requireAddress(
  { email, withoutEmail }: { email?: string; withoutEmail?: WithoutEmail },
  untold: 'refused' | 'accepted',
): void {
  if (email !== undefined) return;
  const reason = withoutEmail ?? 'missing';
  if (reason === 'untold' && untold === 'accepted') return;
  throw refuse(...ADDRESS_ADVICE[reason]);
}

/** Invitations cannot be forwarded. Addresses are compared without regard to capitals, and to nothing else. */
export function requireAddressee({ email }: Invitation, callerEmail: string | undefined): void {
  if (callerEmail === undefined || callerEmail.toLowerCase() === email) return;
  throw refuse('invitation.other_email', {
    detail: 'Sign in with the address that was invited, or ask for an invitation to the one you use.',
  });
}

export function placeOf({ org_id, project_id }: Invitation): MemberPlace {
  return { org_id, ...(project_id !== undefined && { project_id }) };
}

export function viewInvitation(invitation: Invitation): InvitationView {
  const { token_hash: _, expires_at, ...rest } = invitation;
  return { ...rest, expires_at: new Date(expires_at * 1000).toISOString() };
}

// No addresses in events: readers of a feed need not learn who was invited.
const InvitationTold = v.object({
  invitation_id: InvitationId,
  org_id: OrgId,
  project_id: v.optional(ProjectId),
  role: RoleName,
});

const tell = ({ id, ...invitation }: Invitation) => ({ invitation_id: id, ...invitation });

export const InvitationCreated = event('identity.invitation.created', 1, InvitationTold, tell);
export const InvitationRevoked = event('identity.invitation.revoked', 1, InvitationTold, tell);

export const InvitationAccepted = event(
  'identity.invitation.accepted',
  1,
  v.object({ ...InvitationTold.entries, user_id: textOf<UserId>() }),
  (invitation: Invitation, userId: UserId) => ({ ...tell(invitation), user_id: userId }),
);

function requireFitting(role: Role, place: MemberPlace): void {
  const roles: readonly Role[] = place.project_id === undefined ? ORG_ROLES : PROJECT_ROLES;
  if (roles.includes(role)) return;
  const whole = place.project_id === undefined ? 'an organisation' : 'a project';
  throw refuse('request.invalid', {
    faults: [{ pointer: '/role', detail: `Expected a role of ${whole}: ${roles.join(', ')}.` }],
  });
}
