import { createContext } from '../platform/context.ts';
import { sweeping } from '../platform/workflow/sweep.ts';
import { concludeSelftest } from './conclude-selftest.ts';
import { startRun } from './execution.ts';
import { type Selftest, stalled, repairOf } from './selftest.ts';
import { findSelftest, markRescued, overdueSelftests } from './selftest-store.ts';

export const handler = sweeping<Selftest>({
  noun: 'self-test',
  find: (ctx) => overdueSelftests(ctx.now()),
  mend: (_ctx, run) => mend(run),
  label: ({ id }) => ({ selftest_id: id }),
  secondsMax: 20,
});

async function mend({ id }: Selftest): Promise<void> {
  // The index may lag behind.
  const run = await findSelftest(id);
  if (!run) return;
  const ctx = createContext(run.correlation_id, run.traceparent);
  const decision = repairOf(run, ctx.now());
  if (decision === 'wait') return;
  ctx.log.warn('A self-test run is overdue.', { selftest_id: run.id, decision });
  if (decision === 'fail')
    await concludeSelftest(ctx, run.id, (current) => ({ status: 'failed', failure: stalled(current) }));
  else if (await markRescued(run.id, ctx.now())) await startRun(ctx, run.id);
}
