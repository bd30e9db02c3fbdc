import * as v from 'valibot';
import type { Context } from '../platform/context.ts';
import { task } from '../platform/task.ts';
import { startRun } from './execution.ts';
import { type Selftest, stalled, sweepOf } from './selftest.ts';
import { failSelftest, markRescued, overdueSelftests } from './store.ts';

/** Takes no input and trusts only what is stored; running it twice changes nothing the second time. */
export const handler = task(v.unknown(), async (ctx) => {
  for (const run of await overdueSelftests(ctx.now())) await repair(ctx, run);
});

async function repair(ctx: Context, run: Selftest): Promise<void> {
  const decision = sweepOf(run, ctx.now());
  if (decision === 'wait') return;
  ctx.log.warn('A self-test run is overdue.', { selftest_id: run.id, decision });
  if (decision === 'fail') await failSelftest(run.id, stalled(run), ctx.now());
  else if (await markRescued(run.id, ctx.now())) await startRun(run.id, run.correlation_id);
}
