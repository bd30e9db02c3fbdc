import { createContext } from '../platform/context.ts';
import { streamConsumer } from '../platform/workflow/stream.ts';
import { dispatch } from './dispatch-to-domains.ts';
import { eventIdOf, pointerOf } from './stream-record.ts';

/**
 * Tells the domains that react to events where these lie, and nothing else: starting a workflow waits neither for the
 * feed nor for sockets nor for the bus. A batch that fails comes again whole; a domain told twice does it once.
 */
export const handler = streamConsumer(async (ctx, records) => {
  const pointers = records.flatMap((record) => {
    const pointer = pointerOf(record);
    // The relay sets such a row aside and a person hears of it.
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
