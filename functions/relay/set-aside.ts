import type { Context } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import { sendAll } from './send-all.ts';

/** Events that fail by themselves go to the relay's own queue, one by one, and from there to a person. */
export async function setAside(ctx: Context, place: string, eventIds: string[]): Promise<void> {
  await sendAll(
    environment('RELAY_QUEUE_URL'),
    eventIds.map((event_id) => ({
      place,
      event_id,
      correlation_id: ctx.correlationId,
      traceparent: ctx.traceparent,
    })),
  );
}
