import type { Context } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import { startExecution } from '../platform/workflow/workflow.ts';

export async function startRun(ctx: Context, selftestId: string): Promise<void> {
  await startExecution(ctx, environment('SELFTEST_MACHINE_ARN'), selftestId, { selftest_id: selftestId });
}
