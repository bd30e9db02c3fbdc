import * as v from 'valibot';
import { createContext } from '../platform/context.ts';
import { task } from '../platform/workflow/task.ts';
import { concludeSelftest } from './conclude-selftest.ts';
import { startRun } from './execution.ts';
import { type Selftest, stalled, sweepOf } from './selftest.ts';
import { markRescued, overdueSelftests } from './store.ts';

/** Takes no input and trusts only what is stored; running it twice changes nothing the second time. */
export const handler = task(v.unknown(), async (ctx) => {
  for (const run of await overdueSelftests(ctx.now())) await repair(run);
});

async function repair(run: Selftest): Promise<void> {
  const ctx = createContext(run.correlation_id, run.traceparent);
  const decision = sweepOf(run, ctx.now());
  if (decision === 'wait') return;
  ctx.log.warn('A self-test run is overdue.', { selftest_id: run.id, decision });
  if (decision === 'fail')
    await concludeSelftest(ctx, run.id, () => ({ status: 'failed', failure: stalled(run) }));
  else if (await markRescued(run.id, ctx.now())) await startRun(ctx, run.id);
}
