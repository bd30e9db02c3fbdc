import { SendMessageCommand } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { sqs } from '../platform/clients.ts';
import { environment } from '../platform/environment.ts';
import { task } from '../platform/workflow/task.ts';
import { LowerSelftestId } from './selftest.ts';
import { beginSelftest, recordHop, saveTaskToken } from './selftest-store.ts';

const Dispatch = v.object({ selftest_id: LowerSelftestId, task_token: v.string() });

export const handler = task(Dispatch, async (ctx, { selftest_id: id, task_token }) => {
  await beginSelftest(id, ctx.now());
  await saveTaskToken(id, task_token, ctx.now());
  const sentAt = ctx.now();
  await sqs().send(
    new SendMessageCommand({
      QueueUrl: environment('SELFTEST_QUEUE_URL'),
      MessageBody: JSON.stringify({
        selftest_id: id,
        correlation_id: ctx.correlationId,
        traceparent: ctx.traceparent,
      }),
    }),
  );
  await recordHop(id, 'dispatched', sentAt);
});
