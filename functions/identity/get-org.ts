import { orgOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { OrgParams, OrgView, viewOrg } from './org.ts';
import { findOrg } from './org-store.ts';

export const getOrg = query(
  { summary: 'Get an organisation', params: OrgParams, reply: OrgView },
  // Read again rather than answered from what authorization knows: its version is the caller's entity tag.
  async (ctx) => viewOrg(await findOrg(orgOf(ctx).id)),
);
