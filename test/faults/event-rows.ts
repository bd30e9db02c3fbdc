import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
} from '@aws-sdk/lib-dynamodb';
import { v7 } from 'uuid';
import { epochSeconds, secondsAfter } from '../../functions/platform/clock.ts';
import {
  feedHeadKey,
  feedPartition,
  OUTBOX_KIND,
  outboxKey,
  outboxShard,
} from '../../functions/platform/data/keys.ts';
import { dispatchedKey } from '../../functions/events/keys.ts';
import type { ReadyFile } from '../e2e/platform-copy.ts';
import { readCredentials } from '../e2e/signed-fetch.ts';

interface Said {
  place: string;
  type?: string;
  data?: Record<string, unknown>;
  minutesAgo?: number;
  /** What stands in the row in the event's place. */
  instead?: unknown;
}

const TOGETHER_MAX = 25;

/** The control table of a platform, as its operator sees it: events without anybody's request. */
export async function openEventRows(ready: ReadyFile) {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint: ready.aws_endpoint,
      region: ready.region,
      credentials: readCredentials(ready),
    }),
  );
  const { TableNames = [] } = await client.send(new ListTablesCommand({}));
  const TableName = TableNames.find((name) => name.includes('Control')) ?? '';
  const find = async (Key: { pk: string; sk: string }) =>
    (await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;

  return {
    /** Writes events to the outbox and returns their ids. */
    async write(...said: Said[]): Promise<string[]> {
      const rows = said.map(rowOf);
      for (let start = 0; start < rows.length; start += TOGETHER_MAX) {
        const puts = rows.slice(start, start + TOGETHER_MAX).map((Item) => ({ PutRequest: { Item } }));
        let left: BatchWriteCommandInput['RequestItems'] = { [TableName]: puts };
        while (left && Object.keys(left).length > 0)
          left = (await client.send(new BatchWriteCommand({ RequestItems: left }))).UnprocessedItems;
      }
      return rows.map(({ sk }) => sk);
    },

    /** Puts a row in another's place. */
    async mend(event_id: string, said: Said): Promise<void> {
      await client.send(new PutCommand({ TableName, Item: { ...rowOf(said, event_id) } }));
    },

    /** How many events are on the feed of a place, and how many of them the bus was told of. */
    async head(place: string): Promise<{ sequence: number; relayed: number }> {
      const item = await find(feedHeadKey(place));
      return { sequence: Number(item?.['sequence'] ?? 0), relayed: Number(item?.['relayed'] ?? 0) };
    },

    /** The ids of the events on the feed of a place, in order. */
    async feed(place: string): Promise<string[]> {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :feed AND begins_with(sk, :event)',
          ExpressionAttributeValues: { ':feed': feedPartition(place), ':event': 'EVENT#' },
          ConsistentRead: true,
        }),
      );
      return Items.map(({ event_id }) => String(event_id));
    },

    isDispatched: async (event_id: string) => (await find(dispatchedKey(event_id))) !== undefined,
  };
}

export type EventRows = Awaited<ReturnType<typeof openEventRows>>;

function rowOf(
  { place, type = 'test.happened', data = {}, minutesAgo = 0, instead }: Said,
  id?: string | number,
) {
  const now = secondsAfter(new Date(), -60 * minutesAgo);
  const event_id = typeof id === 'string' ? id : v7({ msecs: now.getTime() });
  return {
    ...outboxKey(place, event_id),
    kind: OUTBOX_KIND,
    gsi1pk: outboxShard(place),
    gsi1sk: event_id,
    event: instead ?? {
      event_id,
      type,
      version: 1,
      occurred_at: now.toISOString(),
      actor: 'platform:test',
      correlation_id: event_id,
      project_id: place,
      data,
    },
    expires_at: epochSeconds(secondsAfter(now, 3600 * 24)),
  };
}
