import { commitDecision } from '../platform/data/change.ts';
import type { Context } from '../platform/context.ts';
import type { SelftestId } from '../platform/ids.ts';
import {
  isEnded,
  type Selftest,
  SelftestEnded,
  type SelftestStatus,
  subjectOfSelftest,
  type SelftestVerdict,
} from './selftest.ts';
import { findSelftest, saveVerdict } from './selftest-store.ts';

const SELFTEST = { kind: 'platform', id: 'selftest' } as const;

/** Writes the verdict of a run and tells of it. One that has ended keeps the verdict it has, which is returned. */
export async function concludeSelftest(
  ctx: Context,
  id: SelftestId,
  judge: (run: Selftest) => SelftestVerdict,
): Promise<SelftestStatus | undefined> {
  let status: SelftestStatus | undefined;
  await commitDecision(ctx, 'selftest.end', async () => {
    const run = await findSelftest(id);
    status = run?.status;
    if (!run || isEnded(run)) return undefined;
    const verdict = judge(run);
    status = verdict.status;
    return {
      subject: subjectOfSelftest(id),
      before: { status: run.status },
      after: verdict,
      actor: SELFTEST,
      writes: [saveVerdict(id, verdict, ctx.now())],
      events: [SelftestEnded(id, verdict)],
    };
  });
  return status;
}
