import * as v from 'valibot';
import { refuse } from '../platform/errors.ts';
import { task } from '../platform/task.ts';
import { WorkflowError } from '../platform/workflow-error.ts';
import { isEnded, judge, SelftestId } from './selftest.ts';
import { endSelftest, findSelftest } from './store.ts';

const End = v.object({ selftest_id: SelftestId, error: v.optional(WorkflowError) });

/** Returns the run's final status; a run that has ended keeps the one it has. */
export const handler = task(End, async (ctx, { selftest_id: id, error }) => {
  const run = await findSelftest(id);
  if (!run) throw refuse('selftest.unknown');
  if (isEnded(run)) return { status: run.status };
  const verdict = judge(run, error);
  if (await endSelftest(id, verdict, ctx.now())) return { status: verdict.status };
  // Somebody else ended it in between.
  return { status: (await findSelftest(id))?.status };
});
