import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { eventBridge } from '../platform/clients.ts';
import { environment } from '../platform/environment.ts';
import type { FeedEvent } from './feed.ts';

const SOURCE = 'gpuaas';

/** One at a time: of several sent together some may fail, and those after them would overtake. */
export async function putOnBus(event: FeedEvent): Promise<void> {
  const { FailedEntryCount = 0, Entries = [] } = await eventBridge().send(
    new PutEventsCommand({
      Entries: [
        {
          EventBusName: environment('EVENT_BUS_NAME'),
          Source: SOURCE,
          DetailType: event.type,
          Time: new Date(event.occurred_at),
          Detail: JSON.stringify(event),
        },
      ],
    }),
  );
  if (FailedEntryCount === 0) return;
  const { ErrorCode = 'Unknown', ErrorMessage = '' } = Entries[0] ?? {};
  throw new Error(`The bus refused the event: ${ErrorCode} ${ErrorMessage}`);
}
