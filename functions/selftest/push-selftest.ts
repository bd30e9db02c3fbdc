import * as v from 'valibot';
import { streamConsumer } from '../platform/consumer.ts';
import { pushToTopic } from '../socket/push-to-topic.ts';
import { reportingDenial } from './denial.ts';
import { SELFTEST_TOPICS } from './keys.ts';
import { SelftestId, selftestTopic, viewSelftest } from './selftest.ts';
import { findSelftest } from './store.ts';

/** A run that changed, or somebody who began to follow one: the run may have ended before they came. */
const RunOrSubscription = v.union([
  v.pipe(
    v.object({ id: v.object({ S: SelftestId }) }),
    v.transform(({ id }) => id.S),
  ),
  v.pipe(
    v.object({ topic: v.object({ S: v.string() }) }),
    v.transform(({ topic }) => topic.S.slice(SELFTEST_TOPICS.length)),
    SelftestId,
  ),
]);

export const handler = streamConsumer(RunOrSubscription, async (ctx, id) => {
  const run = await findSelftest(id);
  if (!run) return;
  await reportingDenial(ctx, id, 'pushed', () =>
    pushToTopic(selftestTopic(id), { type: 'selftest', selftest: viewSelftest(run) }, ctx.now()),
  );
});
