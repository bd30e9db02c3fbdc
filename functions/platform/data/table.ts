// The few things stores do to the control table. A failed condition is an answer, not an exception: it means
// somebody was here before us. What DynamoDB is too busy for is sent again for a few seconds.

import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { isNamed } from '../aws-errors.ts';
import { dynamo } from '../clients.ts';
import { environment } from '../environment.ts';
import { retryingBusy, sendingAll } from './retry.ts';

export interface Key {
  pk: string;
  sk: string;
}

export type Item = Key & Record<string, unknown>;

export interface Condition {
  condition: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
}

/** DynamoDB takes no empty names or values. */
export const unlessEmpty = <T extends object>(map: T | undefined): T | undefined =>
  map && Object.keys(map).length > 0 ? map : undefined;

export const controlTable = (): string => environment('CONTROL_TABLE');

export async function readItem(key: Key): Promise<Record<string, unknown> | undefined> {
  const answer = await retryingBusy(() =>
    dynamo().send(new GetCommand({ TableName: controlTable(), Key: key, ConsistentRead: true })),
  );
  return answer.Item;
}

export async function putItem(item: Item): Promise<void> {
  await retryingBusy(() => dynamo().send(new PutCommand({ TableName: controlTable(), Item: item })));
}

const TOGETHER_MAX = 25;

/** Puts any number of items, each as if it were alone. */
export async function putItems(items: Item[]): Promise<void> {
  const table = controlTable();
  for (let start = 0; start < items.length; start += TOGETHER_MAX) {
    const puts = items.slice(start, start + TOGETHER_MAX).map((Item) => ({ PutRequest: { Item } }));
    await sendingAll<Put>(puts, async (some) => {
      const { UnprocessedItems } = await dynamo().send(
        new BatchWriteCommand({ RequestItems: { [table]: some } }),
      );
      return UnprocessedItems?.[table];
    });
  }
}

type Put = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number];

/** Whether the update happened. */
export async function updateItem(key: Key, update: Update): Promise<boolean> {
  return (await sendUpdate(key, update, 'NONE')) !== undefined;
}

/** The item as it is after the update, by the same request; nothing when the condition failed. */
export async function updateAndRead(key: Key, update: Update): Promise<Record<string, unknown> | undefined> {
  return (await sendUpdate(key, update, 'ALL_NEW'))?.Attributes;
}

type Update = Condition & { update: string };

function sendUpdate(key: Key, update: Update, returned: 'NONE' | 'ALL_NEW') {
  const input: UpdateCommandInput = {
    TableName: controlTable(),
    Key: key,
    UpdateExpression: update.update,
    ConditionExpression: update.condition,
    ExpressionAttributeNames: update.names,
    ExpressionAttributeValues: update.values,
    ReturnValues: returned,
  };
  return unlessConditionFails(() => dynamo().send(new UpdateCommand(input)));
}

/** The item as it was, or nothing when it was not there or its condition failed. */
export async function takeItem(key: Key, when?: Condition): Promise<Record<string, unknown> | undefined> {
  const answer = await unlessConditionFails(() =>
    dynamo().send(
      new DeleteCommand({
        TableName: controlTable(),
        Key: key,
        ReturnValues: 'ALL_OLD',
        ConditionExpression: when?.condition,
        ExpressionAttributeNames: when?.names,
        ExpressionAttributeValues: when?.values,
      }),
    ),
  );
  return answer?.Attributes;
}

export interface Page {
  items: Record<string, unknown>[];
  next?: Record<string, unknown>;
}

export interface Query {
  index?: string;
  condition: string;
  /** Which of the rows found are told; all of them are read. */
  filter?: string;
  names?: Record<string, string>;
  values: Record<string, unknown>;
  limit: number;
  from?: Record<string, unknown>;
  /** The last by sort key first. */
  descending?: boolean;
  /** As of now; an index cannot promise that. */
  consistent?: boolean;
}

export async function queryPage(query: Query): Promise<Page> {
  const input: QueryCommandInput = {
    TableName: controlTable(),
    IndexName: query.index,
    KeyConditionExpression: query.condition,
    FilterExpression: query.filter,
    ExpressionAttributeNames: query.names,
    ExpressionAttributeValues: query.values,
    Limit: query.limit,
    ExclusiveStartKey: query.from,
    ScanIndexForward: query.descending !== true,
    ConsistentRead: query.consistent,
  };
  const answer = await retryingBusy(() => dynamo().send(new QueryCommand(input)));
  return { items: answer.Items ?? [], next: answer.LastEvaluatedKey };
}

async function unlessConditionFails<T>(send: () => Promise<T>): Promise<T | undefined> {
  try {
    return await retryingBusy(send);
  } catch (error) {
    if (isNamed(error, 'ConditionalCheckFailedException')) return undefined;
    throw error;
  }
}
