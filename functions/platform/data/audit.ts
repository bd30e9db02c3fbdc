import type { AuditId, CorrelationId, OrgId, ProjectId } from '../ids.ts';
import { putNew, type Write } from './commit.ts';
import { auditKey, auditMonth, auditShard, placeId } from './keys.ts';

/** One row for one change: who did what to what, with what it was before and after. */
export interface AuditRow {
  id: AuditId;
  at: string;
  actor: string;
  actor_email?: string;
  action: string;
  subject: string;
  before?: unknown;
  after?: unknown;
  reason?: string;
  correlation_id: CorrelationId;
  source_ip?: string;
  org_id?: OrgId;
  project_id?: ProjectId;
}

/** Rows are only ever added: no function has the right to change or delete one. */
export function insertAudit(row: AuditRow): Write {
  return putNew({
    ...auditKey(placeId(row), row.id),
    ...row,
    gsi1pk: auditMonth(row.at, auditShard(row.id)),
    gsi1sk: row.id,
  });
}
