import { randomUUID } from 'node:crypto';
import {
  ACCOUNT,
  AwsError,
  jsonBody,
  jsonOperation,
  REGION,
  type Access,
  type Service,
} from '../wire/aws.ts';
import type { Journal } from '../journal/journal.ts';
import { checkEntry, readEntries, type Entry } from './events-entries.ts';

const EVENTS_KEPT = 10_000;

/** What a rule would have been given, and the bus it was put on. */
interface RecordedEvent {
  bus: string;
  version: '0';
  id: string;
  'detail-type': string;
  source: string;
  account: string;
  time: string;
  region: string;
  resources: string[];
  detail: unknown;
}

export interface EventsService extends Service {
  /** The last ones that were taken, the newest at the end. */
  recent(): RecordedEvent[];
}

/**
 * EventBridge as far as putting events goes: nothing here listens to a bus, so they are kept to be looked at. Like
 * AWS, it takes events for a bus that does not exist; who may put where is IAM's to say.
 */
export function createEventsService({ journal }: { journal: Journal }): EventsService {
  journal.exec(
    'CREATE TABLE IF NOT EXISTS event (sequence INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL) STRICT',
  );
  const insert = journal.prepare('INSERT INTO event (content) VALUES (?)');
  const forget = journal.prepare('DELETE FROM event WHERE sequence <= ?');
  const select = journal.prepare('SELECT content FROM event ORDER BY sequence');

  const put = (entry: Entry): { EventId: string } | { ErrorCode: string; ErrorMessage: string } => {
    const checked = checkEntry(entry);
    if ('ErrorCode' in checked) return checked;
    const event: RecordedEvent = {
      bus: busArn(entry.EventBusName),
      version: '0',
      id: randomUUID(),
      account: ACCOUNT,
      region: REGION,
      ...checked,
    };
    const { lastInsertRowid } = insert.run(JSON.stringify(event));
    forget.run(Number(lastInsertRowid) - EVENTS_KEPT);
    return { EventId: event.id };
  };

  return {
    scope: 'events',
    protocol: 'json-1.1',
    access(request): Access[] {
      if (jsonOperation(request) !== 'PutEvents')
        throw new AwsError(
          'UnknownOperationException',
          `EventBridge here has no operation '${jsonOperation(request)}', only PutEvents.`,
        );
      return readEntries(jsonBody<unknown>(request)).map((entry) => ({
        action: 'events:PutEvents',
        resource: busArn(entry.EventBusName),
        context: {
          ...(entry.Source !== undefined && { 'events:source': entry.Source }),
          ...(entry.DetailType !== undefined && { 'events:detail-type': entry.DetailType }),
        },
      }));
    },
    async handle(request) {
      const Entries = readEntries(jsonBody<unknown>(request)).map(put);
      const FailedEntryCount = Entries.filter((entry) => 'ErrorCode' in entry).length;
      return {
        status: 200,
        headers: { 'content-type': 'application/x-amz-json-1.1' },
        body: JSON.stringify({ FailedEntryCount, Entries }),
      };
    },
    recent: () => select.all().map(({ content }) => JSON.parse(String(content)) as RecordedEvent),
  };
}

function busArn(nameOrArn = 'default'): string {
  return nameOrArn.startsWith('arn:')
    ? nameOrArn
    : `arn:aws:events:${REGION}:${ACCOUNT}:event-bus/${nameOrArn}`;
}
