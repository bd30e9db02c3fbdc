import { orgOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { OrgParams, OrgRenamed, OrgView, rename, RenameOrg, viewOrg } from './org.ts';
import { findOrg, saveName } from './org-store.ts';
import { requireVersion } from '../platform/http/precondition.ts';

export const renameOrg = command(
  {
    summary: 'Rename an organisation',
    action: 'identity.org.rename',
    params: OrgParams,
    body: RenameOrg,
    reply: OrgView,
    refusals: ['precondition.failed'],
  },
  async (ctx, { body }) => {
    const org = await findOrg(orgOf(ctx).id);
    const stale = requireVersion(org, ctx.ifMatch);
    const renamed = rename(org, body.name);
    return {
      subject: `org:${org.id}`,
      before: viewOrg(org),
      after: viewOrg(renamed),
      writes: [saveName(org, renamed, stale)],
      events: [OrgRenamed(renamed)],
      reply: viewOrg(renamed),
    };
  },
);
