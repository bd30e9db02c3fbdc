import type { Table } from '../platform/route.ts';

export const selftestRoutes = {
  'GET /api/v1/health': ['getHealth', 'public'],
  'POST /api/v1/selftests': ['requestSelftest', 'iam'],
  'GET /api/v1/selftests/{selftest_id}': ['getSelftest', 'iam'],
  'POST /api/v1/admin/selftests': ['requestSelftest', 'platform.selftest.run'],
  'GET /api/v1/admin/selftests/{selftest_id}': ['getSelftest', 'platform.selftest.run'],
} as const satisfies Table;
