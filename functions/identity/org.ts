// An organisation: the tenant that owns projects and to which people belong.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import { OrgId, textOf } from '../platform/ids.ts';
import { Email, Name, OrgSlug, Time } from '../platform/name.ts';

export const OrgParams = v.object({ org_id: OrgId });

export const CreateOrg = v.strictObject({
  name: Name,
  slug: OrgSlug,
  /** Who shall administer it; without, whoever creates it does. */
  invite_admin_email: v.optional(Email),
});

export const RenameOrg = v.strictObject({ name: Name });

export const OrgView = v.object({
  id: OrgId,
  slug: OrgSlug,
  name: Name,
  version: v.number(),
  created_at: Time,
});
export type OrgView = v.InferOutput<typeof OrgView>;

export const OrgPage = v.object({ items: v.array(OrgView), next_cursor: v.nullable(v.string()) });

export const Org = v.object({
  id: textOf<OrgId>(),
  slug: textOf<OrgSlug>(),
  name: v.string(),
  /** People with the role org_admin here. Counted apart, so that the last one cannot slip away in a race. */
  admin_count: v.number(),
  version: v.number(),
  created_at: v.string(),
});
export type Org = v.InferOutput<typeof Org>;

export function planOrg(
  id: OrgId,
  { name, slug }: { name: string; slug: OrgSlug },
  adminCount: number,
  now: Date,
): Org {
  return { id, slug, name, admin_count: adminCount, version: 1, created_at: now.toISOString() };
}

export function rename(org: Org, name: string): Org {
  return { ...org, name, version: org.version + 1 };
}

export function viewOrg({ id, slug, name, version, created_at }: Org): OrgView {
  return { id, slug, name, version, created_at };
}

export const OrgCreated = event(
  'identity.org.created',
  1,
  v.object({ org_id: OrgId, slug: OrgSlug, name: Name }),
  ({ id, slug, name }: Org) => ({ org_id: id, slug, name }),
);

export const OrgRenamed = event(
  'identity.org.renamed',
  1,
  v.object({ org_id: OrgId, name: Name }),
  ({ id, name }: Org) => ({ org_id: id, name }),
);
