import { ACCOUNT, AwsError, REGION, type Access } from '../wire/aws.ts';
import type { PartitionKeys } from './dynamodb-keys.ts';

export type Body = Record<string, unknown>;

const itemOperations = new Set(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem']);
const batchOperations = new Set(['BatchGetItem', 'BatchWriteItem']);
const transactions = new Set(['TransactGetItems', 'TransactWriteItems']);
const tableOperations = new Set([
  'CreateTable',
  'DescribeTable',
  'UpdateTable',
  'DeleteTable',
  'DescribeTimeToLive',
  'UpdateTimeToLive',
  'DescribeContinuousBackups',
  'UpdateContinuousBackups',
]);
const taggingOperations = new Set(['TagResource', 'UntagResource', 'ListTagsOfResource']);
const streamOperations = new Set(['DescribeStream', 'GetShardIterator']);
const accountOperations = new Set(['ListTables', 'ListStreams', 'DescribeLimits', 'DescribeEndpoints']);

/** Each part of a transaction is a permission of its own. */
const transactionParts = new Map([
  ['Put', 'PutItem'],
  ['Update', 'UpdateItem'],
  ['Delete', 'DeleteItem'],
  ['ConditionCheck', 'ConditionCheckItem'],
  ['Get', 'GetItem'],
]);

/** The permissions AWS would ask for this operation. */
export function dynamoDbAccess(operation: string, body: Body, keys: PartitionKeys): Access[] {
  const action = `dynamodb:${operation}`;
  if (itemOperations.has(operation)) return [itemAccess(action, body, keys)];
  switch (operation) {
    case 'Query':
      return [queryAccess(body, keys)];
    case 'Scan':
      return [{ action, resource: indexArn(body) }];
    case 'BatchGetItem':
      return batchTables(body).map(([table, request]) =>
        batchAccess(action, table, list(object(request, table)['Keys']), keys),
      );
    case 'BatchWriteItem':
      return batchTables(body).map(([table, requests]) =>
        batchAccess(action, table, list(requests).flatMap(written), keys),
      );
    case 'TransactGetItems':
    case 'TransactWriteItems':
      return transactionItems(body).map(([name, item]) => {
        const access = itemAccess(`dynamodb:${transactionParts.get(name)}`, item, keys);
        return { ...access, context: { ...access.context, 'dynamodb:EnclosingOperation': operation } };
      });
    case 'GetRecords':
      return [{ action, resource: arnIn(body, 'ShardIterator') }];
  }
  if (tableOperations.has(operation)) return [{ action, resource: tableArn(tableName(body)) }];
  if (taggingOperations.has(operation)) return [{ action, resource: arnIn(body, 'ResourceArn') }];
  if (streamOperations.has(operation)) return [{ action, resource: arnIn(body, 'StreamArn') }];
  if (accountOperations.has(operation)) return [{ action, resource: '*' }];
  throw new AwsError('UnknownOperationException', `DynamoDB here has no operation '${operation}'.`);
}

/** The tables whose keys must be known before `dynamoDbAccess`. */
export function tablesTouched(operation: string, body: Body): string[] {
  if (itemOperations.has(operation) || operation === 'Query') return [tableName(body)];
  if (batchOperations.has(operation)) return batchTables(body).map(([table]) => plainName(table));
  if (!transactions.has(operation)) return [];
  return [...new Set(transactionItems(body).map(([, item]) => tableName(item)))];
}

const writeOperations = new Set([
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'BatchWriteItem',
  'TransactWriteItems',
]);

export function tablesWritten(operation: string, body: Body): string[] {
  return writeOperations.has(operation) ? tablesTouched(operation, body) : [];
}

/** A table may be named by its ARN. */
export function tableName(body: Body): string {
  const name = body['TableName'];
  if (typeof name !== 'string' || name === '') throw invalid('TableName must name a table.');
  return plainName(name);
}

function itemAccess(action: string, body: Body, keys: PartitionKeys): Access {
  const table = tableName(body);
  // Only the field that the engine will read: a decoy in the other must not be what is authorized.
  const leadingKey = keys.valueIn(body[action === 'dynamodb:PutItem' ? 'Item' : 'Key'], table);
  return { action, resource: tableArn(table), context: leadingKeys([leadingKey]) };
}

function queryAccess(body: Body, keys: PartitionKeys): Access {
  const leadingKey = keys.valueInQuery(body, tableName(body));
  return { action: 'dynamodb:Query', resource: indexArn(body), context: leadingKeys([leadingKey]) };
}

function batchAccess(action: string, table: string, items: unknown[], keys: PartitionKeys): Access {
  const values = items.map((item) => keys.valueIn(item, plainName(table)));
  return { action, resource: tableArn(plainName(table)), context: leadingKeys(values) };
}

/**
 * Always given, even when it cannot be told: `ForAllValues` holds for a key that is absent, and that would let
 * through what the policy means to forbid.
 */
function leadingKeys(values: (string | undefined)[]): Record<string, string[]> {
  return { 'dynamodb:LeadingKeys': [...new Set(values.map((value) => value ?? ''))] };
}

export function batchTables(body: Body): [string, unknown][] {
  return Object.entries(object(body['RequestItems'], 'RequestItems'));
}

/** Each part's name, and what it says. */
export function transactionItems(body: Body): [string, Body][] {
  return list(body['TransactItems']).map((item) => {
    const [name = '', ...others] = Object.keys(object(item, 'TransactItems'));
    if (others.length > 0 || !transactionParts.has(name)) {
      throw invalid('TransactItems can only contain one of Check, Put, Update, Delete or Get.');
    }
    return [name, object((item as Body)[name], name)];
  });
}

/** The item or key of each change. */
export function written(request: unknown): unknown[] {
  return Object.entries(object(request, 'RequestItems')).map(
    ([kind, change]) => object(change, kind)[kind === 'PutRequest' ? 'Item' : 'Key'],
  );
}

export function list(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid('A list is missing from the request.');
}

function object(value: unknown, name: string): Body {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  throw invalid(`${name} must be an object.`);
}

function indexArn(body: Body): string {
  const table = tableArn(tableName(body));
  return typeof body['IndexName'] === 'string' ? `${table}/index/${body['IndexName']}` : table;
}

function tableArn(name: string): string {
  return `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
}

/** Without the ARN around it. */
export function plainName(nameOrArn: string): string {
  const prefix = tableArn('');
  return nameOrArn.startsWith(prefix) ? nameOrArn.slice(prefix.length) : nameOrArn;
}

/** An iterator begins with the ARN of its stream, up to this. */
export const ITERATOR_MARK = '|';

function arnIn(body: Body, name: string): string {
  const value = body[name];
  if (typeof value !== 'string') throw invalid(`${name} must be given.`);
  return value.split(ITERATOR_MARK, 1)[0] ?? '';
}

function invalid(message: string): AwsError {
  return new AwsError('ValidationException', message);
}
