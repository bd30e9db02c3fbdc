import { afterAll, beforeAll, expect, test } from 'vitest';
import { dynamo } from '../../functions/platform/clients.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { newId } from '../../functions/platform/ids.ts';
import { DEADLINE_SECONDS, planSelftest } from '../../functions/selftest/selftest.ts';
import {
  beginSelftest,
  findSelftest,
  insertSelftest,
  overdueSelftests,
  recordHop,
} from '../../functions/selftest/selftest-store.ts';
import { handler as sweep } from '../../functions/selftest/sweep-selftests.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

let table: ControlTable;
beforeAll(async () => {
  // It makes the index lag by itself.
  table = await startControlTable({ roughness: SMOOTH });
});
afterAll(() => table.stop());

/** What the index tells now, it tells during all of the work. */
async function whileIndexLags(work: () => Promise<unknown>): Promise<void> {
  let told: unknown;
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'QueryCommand') return next(args);
        return (told ??= await next(args)) as never;
      },
    { step: 'initialize', name: 'lag', priority: 'high' },
  );
  await overdueSelftests(new Date());
  await work().finally(() => dynamo().middlewareStack.remove('lag'));
}

test('a run that hangs is judged by how far it came, not by what the index knows of it', async () => {
  const id = newId();
  const begun = secondsAfter(new Date(), -DEADLINE_SECONDS - 60);
  await commit([insertSelftest(planSelftest(id, { correlationId: 'look-1' }, begun))]);
  await whileIndexLags(async () => {
    await beginSelftest(id, begun);
    await recordHop(id, 'dispatched', begun);
    await sweep({});
    expect(await findSelftest(id)).toMatchObject({ status: 'failed', failure: { hop: 'answered' } });
    await sweep({});
  });
});
