import * as v from 'valibot';
import { orgOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { MemberPage } from './member.ts';
import { listMembers } from './member-store.ts';
import { OrgParams } from './org.ts';

export const listOrgMembers = query(
  {
    summary: 'List the members of an organisation',
    params: OrgParams,
    query: v.strictObject(PageQuery),
    reply: MemberPage,
  },
  (ctx, { query: page }) => listMembers({ org_id: orgOf(ctx).id }, page),
);
