import type { Refusal } from '../platform/errors.ts';
import * as v from 'valibot';
import { putNew, update, type Write } from '../platform/data/commit.ts';
import { orgKey } from '../platform/data/keys.ts';
import type { OrgId } from '../platform/ids.ts';
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

/** Of these organisations a page, oldest first. */
export async function listOrgsAmong(
  ids: Iterable<OrgId>,
  { limit, cursor }: PageAsked,
): Promise<PageOf<Org>> {
  const after = decodeId(cursor) ?? '';
  const ahead = [...new Set(ids)].filter((id) => id > after).sort();
  const wanted = ahead.slice(0, limit);
  const items = await readItems(wanted.map(orgKey));
  return {
    items: items.flatMap((item) => (item ? [v.parse(Org, item)] : [])),
    next_cursor: encodeCursor(ahead.length > limit ? wanted.at(-1) : undefined),
  };
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
