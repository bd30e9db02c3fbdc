import type { Context } from '../platform/context.ts';
import type { EventOf } from '../platform/events.ts';
import { reportingDenial } from './denial.ts';
import { startRun } from './execution.ts';
import { isEnded, type SelftestRequested } from './selftest.ts';
import { findSelftest, recordHop } from './selftest-store.ts';

/** What a request for a self-test leads to. Its execution bears the run's id, so doing it twice does it once. */
export async function startSelftest(
  ctx: Context,
  { data: { selftest_id: id } }: EventOf<typeof SelftestRequested>,
): Promise<void> {
  const run = await findSelftest(id);
  if (!run || isEnded(run)) return;
  await Promise.all([
    recordHop(id, 'streamed', ctx.now()),
    reportingDenial(ctx, id, 'started', () => startRun(ctx, id)),
  ]);
}
