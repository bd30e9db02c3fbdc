import * as v from 'valibot';
import { isDenied } from '../platform/aws-errors.ts';
import { type CorrelationId, textOf } from '../platform/ids.ts';
import { queueConsumer } from '../platform/workflow/consumer.ts';
import { answerTask, refuseTask } from '../platform/workflow/workflow.ts';
import { reportingDenial } from './denial.ts';
import { LowerSelftestId } from './selftest.ts';
import { findTaskToken, recordHop } from './selftest-store.ts';

const SelftestTask = v.strictObject({
  selftest_id: LowerSelftestId,
  correlation_id: textOf<CorrelationId>(),
  traceparent: v.string(),
});

export const handler = queueConsumer(SelftestTask, async (ctx, { selftest_id: id }, { sentAt }) => {
  const taskToken = await findTaskToken(id);
  if (!taskToken) return ctx.log.warn('A task arrived for a run that no longer exists.', { selftest_id: id });
  await reportingDenial(ctx, id, 'answered', async () => {
    try {
      // The sender may not have recorded this hop; the queue knows when the message was sent.
      await recordHop(id, 'dispatched', sentAt);
      await recordHop(id, 'answered', ctx.now());
      await answerTask(taskToken);
    } catch (error) {
      // The workflow can write down what this function may not.
      if (isDenied(error)) await refuseTask(taskToken, error);
      else throw error;
    }
  });
});
