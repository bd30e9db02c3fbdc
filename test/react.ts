import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { expect } from 'vitest';
import type { PlatformEvent } from '../functions/platform/events.ts';
import { placeId } from '../functions/platform/data/keys.ts';

/** Tells a domain of events as its queue does: by where each of them lies. */
export async function react(
  handler: (event: SQSEvent) => Promise<SQSBatchResponse>,
  ...events: PlatformEvent[]
): Promise<void> {
  for (const event of events) expect(await handler({ Records: [recordOf(event)] })).toEqual(ALL_DONE);
}

const ALL_DONE = { batchItemFailures: [] };

function recordOf(event: PlatformEvent): SQSRecord {
  const { event_id, type, correlation_id, traceparent } = event;
  return {
    messageId: event_id,
    body: JSON.stringify({ place: placeId(event), event_id, type, correlation_id, traceparent }),
    attributes: { ApproximateReceiveCount: '1', SentTimestamp: String(Date.now()) },
  } as SQSRecord;
}
