import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { cancellations } from '../aws-errors.ts';
import { dynamo } from '../clients.ts';
import { type ProblemCode, refuse } from '../errors.ts';
import { controlTable, type Item, type Key } from './table.ts';

const WRITES_MAX = 100;

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** One part of a change, and what to answer when its condition fails. */
export interface Write {
  action: Action;
  refusal: ProblemCode;
  /** Which of several such rules it is, in words. */
  detail?: string;
}

interface Condition {
  condition: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
}

export function putNew(item: Item, refusal: ProblemCode): Write {
  return {
    action: {
      Put: { TableName: controlTable(), Item: item, ConditionExpression: 'attribute_not_exists(pk)' },
    },
    refusal,
  };
}

export function update(key: Key, change: Condition & { update: string }, refusal: ProblemCode): Write {
  return {
    action: {
      Update: {
        TableName: controlTable(),
        Key: key,
        UpdateExpression: change.update,
        ConditionExpression: change.condition,
        ExpressionAttributeNames: change.names,
        ExpressionAttributeValues: change.values,
      },
    },
    refusal,
  };
}

export function remove(key: Key, when: Condition, refusal: ProblemCode): Write {
  return {
    action: {
      Delete: {
        TableName: controlTable(),
        Key: key,
        ConditionExpression: when.condition,
        ExpressionAttributeNames: when.names,
        ExpressionAttributeValues: when.values,
      },
    },
    refusal,
  };
}

/** Holds a rule about something the change itself does not touch. */
export function requireThat(key: Key, when: Condition, refusal: ProblemCode, detail?: string): Write {
  return {
    action: {
      ConditionCheck: {
        TableName: controlTable(),
        Key: key,
        ConditionExpression: when.condition,
        ExpressionAttributeNames: when.names,
        ExpressionAttributeValues: when.values,
      },
    },
    refusal,
    detail,
  };
}

/** Somebody changed one of the same items at the same moment; deciding again may succeed. */
export class Conflict extends Error {
  override name = 'Conflict';
}

/** The one write path of a command: everything it decided happens at once, or nothing does. */
export async function commit(writes: Write[]): Promise<void> {
  if (writes.length > WRITES_MAX)
    throw new Error(`A change of ${writes.length} writes is over the limit of ${WRITES_MAX}.`);
  try {
    await dynamo().send(new TransactWriteCommand({ TransactItems: writes.map(({ action }) => action) }));
  } catch (error) {
    const reasons = cancellations(error);
    const write = writes[reasons.indexOf('ConditionalCheckFailed')];
    const isRefused = write !== undefined && write.refusal !== 'request.conflict';
    if (isRefused) throw refuse(write.refusal, { detail: write.detail });
    if (write === undefined && !reasons.includes('TransactionConflict')) throw error;
    throw new Conflict('The transaction met another.', { cause: error });
  }
}
