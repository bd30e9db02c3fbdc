import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { decodeCursor, encodeCursor } from '../platform/page.ts';
import { AuditPage, AuditQuery, ROW_ID } from './audit.ts';
import { readPlaceAudit } from './audit-store.ts';
import { ProjectParams } from '../identity/project.ts';

export const listProjectAudit = query(
  {
    summary: 'List the audit log of a project, newest first',
    params: ProjectParams,
    query: AuditQuery,
    reply: AuditPage,
  },
  async (ctx, { query: { limit, cursor, ...filter } }) => {
    const before = decodeCursor(cursor, ROW_ID);
    const { rows, next } = await readPlaceAudit(projectOf(ctx).id, { filter, limit, before });
    return { items: rows, next_cursor: encodeCursor(next) };
  },
);
