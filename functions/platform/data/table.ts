// The few things stores do to the control table. A failed condition is an answer, not an exception: it means
// somebody was here before us.

import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { isNamed } from '../aws-errors.ts';
import { dynamo } from '../clients.ts';
import { environment } from '../environment.ts';

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

export const controlTable = (): string => environment('CONTROL_TABLE');

export async function readItem(key: Key): Promise<Record<string, unknown> | undefined> {
  const answer = await dynamo().send(
    new GetCommand({ TableName: controlTable(), Key: key, ConsistentRead: true }),
  );
  return answer.Item;
}

export async function putItem(item: Item): Promise<void> {
  await dynamo().send(new PutCommand({ TableName: controlTable(), Item: item }));
}

/** Whether the update happened. */
export async function updateItem(key: Key, update: Condition & { update: string }): Promise<boolean> {
  const input: UpdateCommandInput = {
    TableName: controlTable(),
    Key: key,
    UpdateExpression: update.update,
    ConditionExpression: update.condition,
    ExpressionAttributeNames: update.names,
    ExpressionAttributeValues: update.values,
  };
  return (await unlessConditionFails(() => dynamo().send(new UpdateCommand(input)))) !== undefined;
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
  const answer = await dynamo().send(
    new QueryCommand({
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
    }),
  );
  return { items: answer.Items ?? [], next: answer.LastEvaluatedKey };
}

async function unlessConditionFails<T>(send: () => Promise<T>): Promise<T | undefined> {
  try {
    return await send();
  } catch (error) {
    if (isNamed(error, 'ConditionalCheckFailedException')) return undefined;
    throw error;
  }
}
