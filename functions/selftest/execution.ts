import type { Context } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import type { SelftestId } from '../platform/ids.ts';
import { startExecution } from '../platform/workflow/workflow.ts';

export async function startRun(ctx: Context, selftestId: SelftestId): Promise<void> {
  await startExecution(ctx, environment('SELFTEST_MACHINE_ARN'), selftestId, { selftest_id: selftestId });
}
