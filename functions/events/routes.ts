import type { Table } from '../platform/route.ts';

export const eventsRoutes = {
  'GET /api/v1/projects/{project_id}/audit': ['listProjectAudit', 'audit.read'],
  'GET /api/v1/admin/audit': ['listAudit', 'platform.audit.read'],
  'GET /api/v1/projects/{project_id}/events': ['listEvents', 'event.read'],
  'POST /api/v1/projects/{project_id}/events/tickets': ['createEventTicket', 'event.read'],
} as const satisfies Table;
