import * as v from 'valibot';
import { orgOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { InvitationPage, isOpen, viewInvitation } from './invitation.ts';
import { listInvitationsOf } from './invitation-store.ts';
import { OrgParams } from './org.ts';

export const listInvitations = query(
  {
    summary: 'List the open invitations of an organisation',
    params: OrgParams,
    query: v.strictObject(PageQuery),
    reply: InvitationPage,
  },
  async (ctx, { query: page }) => {
    const { items, next_cursor } = await listInvitationsOf(orgOf(ctx).id, page);
    return { items: items.filter((each) => isOpen(each, ctx.now())).map(viewInvitation), next_cursor };
  },
);
