import * as v from 'valibot';
import { AUDIT_SHARDS, auditKey, auditMonth } from '../platform/data/keys.ts';
import { queryPage } from '../platform/data/table.ts';
import type { PlaceId } from '../platform/ids.ts';
import { type AuditFilter, type AuditPart, AuditView, idsBetween, justBefore, mergeParts } from './audit.ts';

/** How many rows one request looks at in search of those that were asked for. */
const LOOKED_AT_MAX = 500;

interface Asked {
  filter: AuditFilter;
  limit: number;
  before?: string;
}

/** The rows of one place, newest first. */
export function readPlaceAudit(place: PlaceId, asked: Asked): Promise<AuditPart> {
  const { pk } = auditKey(place, '');
  return readRows({ partition: ['pk', pk], sort: 'sk', consistent: true }, asked);
}

/** The rows of all places in one month (`2026-11`), newest first. */
export async function readMonthAudit(month: string, asked: Asked): Promise<AuditPart> {
  const parts = await Promise.all(
    AUDIT_SHARDS.map((shard) =>
      readRows({ index: 'gsi1', partition: ['gsi1pk', auditMonth(month, shard)], sort: 'gsi1sk' }, asked),
    ),
  );
  return mergeParts(parts, asked.limit);
}

async function readRows(
  where: { index?: string; partition: [name: string, value: string]; sort: string; consistent?: boolean },
  { filter, limit, before }: Asked,
): Promise<AuditPart> {
  const ids = idsBetween(filter);
  const last = before === undefined || before > ids.last ? ids.last : justBefore(before);
  if (last < ids.first) return { rows: [] };
  const wanted = conditions(filter);
  const { actor, action, subject, correlation_id } = filter;
  const isSifted = [actor, action, subject, correlation_id].some((each) => each !== undefined);
  const { items, next: onward } = await queryPage({
    index: where.index,
    condition: '#partition = :partition AND #sort BETWEEN :first AND :last',
    filter: wanted.expression,
    names: { '#partition': where.partition[0], '#sort': where.sort, ...wanted.names },
    values: { ':partition': where.partition[1], ':first': ids.first, ':last': last, ...wanted.values },
    limit: isSifted ? LOOKED_AT_MAX : limit,
    descending: true,
    consistent: where.consistent,
  });
  const rows = items.slice(0, limit).map((item) => v.parse(AuditView, item));
  const next = items.length > limit ? rows.at(-1)?.id : (onward?.[where.sort] as string | undefined);
  return { rows, ...(next !== undefined && { next }) };
}

function conditions({ actor, action, subject, correlation_id, from, to }: AuditFilter) {
  const all = [
    ['actor', '=', actor],
    ['action', '=', action],
    ['subject', '=', subject],
    ['correlation_id', '=', correlation_id],
    ['at', '>=', from?.toISOString()],
    ['at', '<=', to?.toISOString()],
  ] as const;
  const set = all.flatMap(([name, operator, value], index) =>
    value === undefined ? [] : [{ name, operator, value, holder: `:wanted${index}` }],
  );
  return {
    expression:
      set.map(({ name, operator, holder }) => `#${name} ${operator} ${holder}`).join(' AND ') || undefined,
    names: Object.fromEntries(set.map(({ name }) => [`#${name}`, name])),
    values: Object.fromEntries(set.map(({ holder, value }) => [holder, value])),
  };
}
