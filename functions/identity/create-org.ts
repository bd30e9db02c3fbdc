import * as v from 'valibot';
import { nameActor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import type { Change } from '../platform/data/change.ts';
import { command } from '../platform/http/endpoint.ts';
import { makeOneTimeToken } from '../platform/auth/one-time-token.ts';
import type { OrgId } from '../platform/ids.ts';
import { InvitationCreated, InvitationView, planInvitation, viewInvitation } from './invitation.ts';
import { insertInvitation } from './invitation-store.ts';
import { entryEvents, give } from './member.ts';
import { findUser, saveRoles } from './member-store.ts';
import { CreateOrg, OrgCreated, OrgView, planOrg, viewOrg } from './org.ts';
import { insertOrg } from './org-store.ts';
import { newcomer } from './user.ts';

const CreatedOrgView = v.object({
  ...OrgView.entries,
  invitation: v.optional(InvitationView),
  /** Only in the first answer. */
  invitation_token: v.optional(v.string()),
});

export const createOrg = command(
  {
    summary: 'Create an organisation',
    action: 'identity.org.create',
    body: CreateOrg,
    reply: CreatedOrgView,
    status: 201,
    refusals: ['org.slug_taken', 'member.too_many_grants'],
  },
  async (ctx, { body }) => {
    const email = body.invite_admin_email;
    const org = planOrg(ctx.newId(), body, email === undefined ? 1 : 0, ctx.now());
    const first = email === undefined ? await appointCaller(ctx, org.id) : inviteAdmin(ctx, org.id, email);
    return {
      subject: `org:${org.id}`,
      place: { org_id: org.id },
      after: viewOrg(org),
      location: `/api/v1/orgs/${org.id}`,
      writes: [...insertOrg(org), ...first.writes],
      events: [OrgCreated(org), ...first.events],
      reply: { ...viewOrg(org), ...first.reply },
      ...(first.secrets && { secrets: first.secrets }),
    };
  },
);

type FirstAdmin = Required<Pick<Change, 'writes' | 'events' | 'reply'>> & Pick<Change, 'secrets'>;

async function appointCaller({ actor, now }: Context, orgId: OrgId): Promise<FirstAdmin> {
  // Whoever creates it need not be a person, and becomes a member like one.
  const id: string = actor.id;
  const email = actor.kind === 'user' ? actor.email : undefined;
  const before = (await findUser(id)) ?? newcomer(id, email);
  const after = give(before, { org_id: orgId }, 'org_admin', now());
  return { writes: saveRoles(before, after), events: entryEvents(before, after), reply: {} };
}

/** Until the invitation is accepted, only the platform's own admins reach the organisation. */
function inviteAdmin(ctx: Context, orgId: OrgId, email: string): FirstAdmin {
  const { token, tokenHash } = makeOneTimeToken();
  const wanted = { email, role: 'org_admin', place: { org_id: orgId } } as const;
  const by = { tokenHash, actor: nameActor(ctx.actor) };
  const invitation = planInvitation(ctx.newId(), wanted, by, ctx.now());
  return {
    writes: insertInvitation(invitation),
    events: [InvitationCreated(invitation)],
    reply: { invitation: viewInvitation(invitation) },
    secrets: { invitation_token: token },
  };
}
