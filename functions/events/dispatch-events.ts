import { createContext } from '../platform/context.ts';
import { streamConsumer } from '../platform/workflow/stream.ts';
import { dispatch } from './dispatch-to-domains.ts';
import { eventIdOf, pointerOf } from './stream-record.ts';

/**
 * Sends pointers to events to the domains that react to them, and does nothing else: starting a workflow must not wait
 * for the feed, the sockets or the bus. A failed batch is delivered again as a whole; reactions are idempotent.
 */
export const handler = streamConsumer(async (ctx, records) => {
  const pointers = records.flatMap((record) => {
    const pointer = pointerOf(record);
    // The relay sets this row aside, which raises an alarm.
    if (!pointer) ctx.log.error('An outbox row is not a valid event.', { event_id: eventIdOf(record) });
    return pointer ? [pointer] : [];
  });
  await dispatch(pointers, ctx.now());
  for (const { correlation_id, traceparent, event_id, type } of pointers)
    createContext(correlation_id, traceparent).log.info('The event was dispatched.', {
      event_id,
      event_type: type,
    });
  return { batchItemFailures: [] };
});
