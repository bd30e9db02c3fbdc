import * as v from 'valibot';
import type { Context } from '../platform/context.ts';
import type { PlatformEvent } from '../platform/events.ts';
import { reportingDenial } from './denial.ts';
import { startRun } from './execution.ts';
import { isEnded, SelftestId } from './selftest.ts';
import { findSelftest, recordHop } from './store.ts';

const Requested = v.object({ selftest_id: SelftestId });

/** What a request for a self-test leads to. Its execution bears the run's id, so doing it twice does it once. */
export async function startSelftest(ctx: Context, { data }: PlatformEvent): Promise<void> {
  const { selftest_id: id } = v.parse(Requested, data);
  const run = await findSelftest(id);
  if (!run || isEnded(run)) return;
  await recordHop(id, 'streamed', ctx.now());
  await reportingDenial(ctx, id, 'started', () => startRun(id, run.correlation_id));
}
