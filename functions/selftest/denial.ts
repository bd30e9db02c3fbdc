import { isDenied } from '../platform/aws-errors.ts';
import type { Context } from '../platform/context.ts';
import type { SelftestId } from '../platform/ids.ts';
import { concludeSelftest } from './conclude-selftest.ts';
import { failureAt, type Hop } from './selftest.ts';

/**
 * A missing grant is what this test is most often run to find, so it is written on the run, where the person
 * who asked sees the action and the resource. Retrying would not help: the record counts as consumed.
 */
export async function reportingDenial(
  ctx: Context,
  id: SelftestId,
  hop: Hop,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isDenied(error)) throw error;
    ctx.log.error('The self-test found a missing permission.', { selftest_id: id, hop, error });
    const failure = failureAt(hop, error.name, error.message);
    await concludeSelftest(ctx, id, () => ({ status: 'failed', failure }));
  }
}
