// Takes tasks from the node's own queue, by long polls. A message is deleted only after its outcome is in the journal.

import { DeleteMessageCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { backOffMs, pause } from '../platform/back-off.ts';
import type { Lanes } from '../runner/lanes.ts';
import type { Log } from '../tasks/performer.ts';
import { type Ran, subjectOf } from '../runner/run-task.ts';
import { HIDDEN_SECONDS, keepHidden } from './keep-hidden.ts';
import type { createQueueAccess } from './queue-access.ts';

const WAIT_SECONDS = 20;
const RECEIVE_MAX = 10;
/** Taken and not ended: more stay in the queue, where they are not forgotten if this host is lost. */
const HELD_MAX = 40;

export interface Polling {
  access: ReturnType<typeof createQueueAccess>;
  lanes: Lanes;
  run: (text: string) => Promise<Ran>;
  log: Log;
}

/** Ends when the signal is aborted and whatever was taken has ended or was interrupted. */
export async function pollQueue({ access, lanes, run, log }: Polling, signal: AbortSignal): Promise<void> {
  const held = new Set<Promise<void>>();
  let failures = 0;
  while (!signal.aborted) {
    if (held.size >= HELD_MAX) {
      await Promise.race([...held, aborted(signal)]);
      continue;
    }
    try {
      for (const message of await receive(Math.min(RECEIVE_MAX, HELD_MAX - held.size))) {
        const work = handle(message).finally(() => held.delete(work));
        held.add(work);
      }
      failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      // Credentials may have been withdrawn, or the queue made anew: both are asked for again.
      access.drop();
      log('warn', 'The queue could not be read; it is tried again.', { error, failures: ++failures });
      await pause(backOffMs(failures), signal);
    }
  }
  await Promise.all(held);

  async function receive(max: number): Promise<Message[]> {
    const { sqs, url } = await access.get();
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: max,
        WaitTimeSeconds: WAIT_SECONDS,
        VisibilityTimeout: HIDDEN_SECONDS,
      }),
      { abortSignal: signal },
    );
    return Messages;
  }

  /** Never rejects: what goes wrong with one message is no matter of the others, and the message comes again. */
  async function handle({ Body = '', ReceiptHandle = '' }: Message): Promise<void> {
    const release = keepHidden(() => access.get(), ReceiptHandle, { log });
    try {
      const ran = await lanes.run(subjectOf(Body), () => run(Body));
      if (ran === 'interrupted') return;
      const { sqs, url } = await access.get();
      await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    } catch (error) {
      log('error', 'A message could not be handled to its end; it will be delivered again.', { error });
    } finally {
      release();
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
