import { query } from '../platform/http/endpoint.ts';
import { decodeCursor, encodeCursor } from '../platform/page.ts';
import {
  AuditPage,
  AuditQuery,
  latestMonth,
  MONTH_POSITION,
  monthBefore,
  type MonthPosition,
  readMonthPosition,
  writeMonthPosition,
} from './audit.ts';
import { readMonthAudit } from './audit-store.ts';

/** Rows lie by the month, and a page never reaches beyond one: so it costs one read of each part, however long the list. */
export const listAudit = query(
  { summary: 'List the audit log of the whole platform, newest first', query: AuditQuery, reply: AuditPage },
  async (ctx, { query: { limit, cursor, ...filter } }) => {
    const position = decodeCursor(cursor, MONTH_POSITION);
    const { month, before }: MonthPosition = position
      ? readMonthPosition(position)
      : { month: latestMonth(filter, ctx.now()) };
    const { rows, next } = await readMonthAudit(month, { filter, limit, before });
    const earlier = next === undefined ? monthBefore(month, filter, ctx.now()) : month;
    const onward = earlier && writeMonthPosition({ month: earlier, before: next });
    return { items: rows, next_cursor: encodeCursor(onward) };
  },
);
