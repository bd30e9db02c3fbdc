import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { cancellations } from '../aws-errors.ts';
import { dynamo } from '../clients.ts';
import type { Refusal } from '../errors.ts';
import { newId } from '../ids.ts';
import { retryingBusy } from './retry.ts';
import { type Condition, controlTable, type Item, type Key, unlessEmpty } from './table.ts';

const WRITES_MAX = 100;

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** One part of a change, and what to answer when its condition fails: without a refusal, it is decided again. */
export interface Write {
  action: Action;
  refusal?: Refusal | Explain;
}

/** Finds out by reading what exactly made a condition fail. */
type Explain = () => Promise<Error>;

/** Puts a row where there is none. */
export function putNew(item: Item, refusal?: Refusal): Write {
  return put(item, { condition: 'attribute_not_exists(pk)' }, refusal);
}

/** Puts a row in place of the one that was read: one of its attributes still is what it was then. */
export function replace(item: Item, unchanged: Record<string, unknown>, refusal?: Refusal): Write {
  return put(item, sameAs(unchanged), refusal);
}

/** Puts a row, whatever was there before, or under a condition of its own. */
export function put(item: Item, when?: Condition, refusal?: Refusal): Write {
  return {
    action: { Put: { TableName: controlTable(), Item: item, ...(when && expressionOf(when)) } },
    refusal,
  };
}

export function update(key: Key, change: Partial<Condition> & { update: string }, refusal?: Refusal): Write {
  return {
    action: {
      Update: {
        TableName: controlTable(),
        Key: key,
        UpdateExpression: change.update,
        ...expressionOf(change),
      },
    },
    refusal,
  };
}

/**
 * Sets attributes of a row and leaves the others, such as counters, as they are. One that is undefined is removed.
 */
export function change(
  key: Key,
  attributes: Record<string, unknown>,
  when?: Condition,
  refusal?: Refusal,
): Write {
  const all = Object.entries(attributes);
  const kept = all.filter(([, value]) => value !== undefined);
  const removed = all.filter(([, value]) => value === undefined);
  const set = kept.map(([name]) => `#${name} = :${name}`).join(', ');
  const gone = removed.map(([name]) => `#${name}`).join(', ');
  return update(
    key,
    {
      update: `${set && `SET ${set}`}${gone && ` REMOVE ${gone}`}`,
      condition: when?.condition,
      names: { ...when?.names, ...Object.fromEntries(all.map(([name]) => [`#${name}`, name])) },
      values: { ...when?.values, ...Object.fromEntries(kept.map(([name, value]) => [`:${name}`, value])) },
    },
    refusal,
  );
}

export function remove(key: Key, when?: Condition, refusal?: Refusal): Write {
  return {
    action: { Delete: { TableName: controlTable(), Key: key, ...(when && expressionOf(when)) } },
    refusal,
  };
}

/** A condition on an item that the change itself does not write. */
export function requireThat(key: Key, when: Condition, refusal?: Refusal | Explain): Write {
  return {
    action: {
      ConditionCheck: {
        TableName: controlTable(),
        Key: key,
        ...expressionOf(when),
        ConditionExpression: when.condition,
      },
    },
    refusal,
  };
}

/** The condition that attributes have these values. */
export function sameAs(values: Record<string, unknown>): Condition {
  const names = Object.keys(values);
  return {
    condition: names.map((name) => `#${name} = :${name}`).join(' AND '),
    names: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    values: Object.fromEntries(names.map((name) => [`:${name}`, values[name]])),
  };
}

function expressionOf({ condition, names, values }: Partial<Condition>) {
  return {
    ConditionExpression: condition,
    ExpressionAttributeNames: unlessEmpty(names),
    ExpressionAttributeValues: unlessEmpty(values),
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
  // The token makes whatever is sent again happen once, also where an answer was lost.
  const transaction = { TransactItems: writes.map(({ action }) => action), ClientRequestToken: newId() };
  await retryingBusy(() =>
    dynamo()
      .send(new TransactWriteCommand(transaction))
      .catch(async (error: unknown) => {
        throw await meaningOf(error, writes);
      }),
  );
}

async function meaningOf(error: unknown, writes: Write[]): Promise<unknown> {
  const reasons = cancellations(error);
  const write = writes[reasons.indexOf('ConditionalCheckFailed')];
  if (typeof write?.refusal === 'function') return write.refusal();
  if (write?.refusal) return write.refusal;
  if (write === undefined && !reasons.includes('TransactionConflict')) return error;
  return new Conflict('The transaction conflicts with another one.', { cause: error });
}
