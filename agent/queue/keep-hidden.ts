import { ChangeMessageVisibilityCommand } from '@aws-sdk/client-sqs';
import type { Log } from '../tasks/performer.ts';
import type { QueueAccess } from './queue-access.ts';

/**
 * Short, and extended while a task runs: a message that the queue gave to a poll whose agent ended just then is delivered
 * again after this time.
 */
export const HIDDEN_SECONDS = 30;
const EXTEND_MS = 10_000;

/**
 * Keeps a message hidden as long as its task runs. If that fails, the message is delivered again, and its task waits for
 * this one and then repeats its outcome: nothing is done twice.
 */
export function keepHidden(
  access: () => Promise<QueueAccess>,
  receiptHandle: string,
  { log, extendMs = EXTEND_MS }: { log: Log; extendMs?: number },
): () => void {
  const extend = async () => {
    try {
      const { sqs, url } = await access();
      await sqs.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: url,
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: HIDDEN_SECONDS,
        }),
      );
    } catch (error) {
      log('warn', 'A message could not be kept hidden while its task runs; it will be delivered again.', {
        error,
      });
    }
  };
  const timer = setInterval(() => void extend(), extendMs);
  timer.unref();
  return () => clearInterval(timer);
}
