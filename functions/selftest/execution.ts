import { environment } from '../platform/environment.ts';
import { startExecution } from '../platform/workflow.ts';

export async function startRun(selftestId: string, correlationId: string): Promise<void> {
  await startExecution(environment('SELFTEST_MACHINE_ARN'), selftestId, {
    selftest_id: selftestId,
    correlation_id: correlationId,
  });
}
