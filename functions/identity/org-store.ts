import type { Refusal } from '../platform/errors.ts';
import * as v from 'valibot';
import { callerNow } from '../platform/auth/caller.ts';
import type { Context } from '../platform/context.ts';
import { putNew, update, type Write } from '../platform/data/commit.ts';
import { orgKey } from '../platform/data/keys.ts';
import type { OrgId } from '../platform/ids.ts';
import type { Grant } from '../platform/permissions.ts';
import { encodeCursor, type PageOf } from '../platform/page.ts';
import { readItem } from '../platform/data/table.ts';
import { ORGS_PARTITION, orgSlugKey } from './keys.ts';
import { Org } from './org.ts';
import { decodeId, type PageAsked, readGathered, readItems } from '../platform/data/rows.ts';
import { refuse } from './problems.ts';

export async function findOrg(id: OrgId): Promise<Org> {
  const item = await readItem(orgKey(id));
  if (!item) throw refuse('org.unknown');
  return v.parse(Org, item);
}

export async function listAllOrgs(page: PageAsked): Promise<PageOf<Org>> {
  const { items, next_cursor } = await readGathered(ORGS_PARTITION, orgKey, page);
  return { items: items.map((item) => v.parse(Org, item)), next_cursor };
}

/**
 * Of the caller's organisations a page, oldest first. Those that are remembered are read with the caller's own item,
 * by one request; only what was just given takes another.
 */
export async function listOwnOrgs(ctx: Context, { limit, cursor }: PageAsked): Promise<PageOf<Org>> {
  const after = decodeId(cursor) ?? '';
  const remembered = orgsAfter(ctx.grants, after).slice(0, limit);
  const { grants, items } = await callerNow(ctx, remembered.map(orgKey));
  const ahead = orgsAfter(grants, after);
  const wanted = ahead.slice(0, limit);
  const added = wanted.filter((id) => !remembered.includes(id));
  const known = new Map(
    [...items, ...(await readItems(added.map(orgKey)))].flatMap((item) =>
      item ? [orgById(v.parse(Org, item))] : [],
    ),
  );
  return {
    items: wanted.flatMap((id) => known.get(id) ?? []),
    next_cursor: encodeCursor(ahead.length > limit ? wanted.at(-1) : undefined),
  };
}

const orgById = (org: Org): [OrgId, Org] => [org.id, org];

function orgsAfter(grants: Grant[], after: string): OrgId[] {
  const ids = new Set(grants.flatMap(({ org_id }) => org_id ?? []));
  return [...ids].filter((id) => id > after).sort();
}

export function insertOrg(org: Org): Write[] {
  return [
    putNew({ ...orgSlugKey(org.slug), org_id: org.id }, refuse('org.slug_taken')),
    putNew({ ...orgKey(org.id), ...org, gsi1pk: ORGS_PARTITION, gsi1sk: org.id }),
  ];
}

export function saveName(before: Org, after: Org, stale: Refusal | undefined): Write {
  return update(
    orgKey(before.id),
    {
      update: 'SET #name = :name, version = :after',
      condition: 'version = :before',
      names: { '#name': 'name' },
      values: { ':name': after.name, ':after': after.version, ':before': before.version },
    },
    stale,
  );
}
