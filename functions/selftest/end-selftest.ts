import * as v from 'valibot';
import { task } from '../platform/workflow/task.ts';
import { WorkflowError } from '../platform/workflow/workflow-error.ts';
import { concludeSelftest } from './conclude-selftest.ts';
import { judgeSelftest, LowerSelftestId } from './selftest.ts';
import { refuse } from './problems.ts';

const End = v.object({ selftest_id: LowerSelftestId, error: v.optional(WorkflowError) });

/** Returns the run's final status; a run that has ended keeps the one it has. */
export const handler = task(End, async (ctx, { selftest_id: id, error }) => {
  const status = await concludeSelftest(ctx, id, (run) => judgeSelftest(run, error));
  if (!status) throw refuse('selftest.unknown');
  return { status };
});
