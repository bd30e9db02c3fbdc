import { isDeepStrictEqual } from 'node:util';
import {
  AwsError,
  REGION,
  jsonBody,
  jsonOperation,
  type Access,
  type AwsRequest,
  type AwsResponse,
} from '../wire/aws.ts';
import type { DynamoDbConnection } from '../engines/dynamodb.ts';
import { forward } from '../wire/forward.ts';
import type { Roughness } from '../wire/roughness.ts';
import type { FrontDoorService } from '../iam/front-door.ts';
import {
  dynamoDbAccess,
  ITERATOR_MARK,
  plainName,
  tableName,
  tablesTouched,
  tablesWritten,
  type Body,
} from './dynamodb-access.ts';
import { parseAnswer } from './dynamodb-answers.ts';
import { PartitionKeys } from './dynamodb-keys.ts';
import { TableSchemas, type TableDescription } from './dynamodb-schemas.ts';
import { withKeySchema } from './dynamodb-stream-keys.ts';
import { StrictDynamoDb } from './dynamodb-strict.ts';
import { transact } from './dynamodb-transaction.ts';

const ANSWER_SECONDS_MAX = 30;

/** Operations that speak of ARNs and of no one's data; items are passed on byte for byte. */
const namesArns = new Set([
  'CreateTable',
  'DescribeTable',
  'UpdateTable',
  'DeleteTable',
  'DescribeContinuousBackups',
  'TagResource',
  'UntagResource',
  'ListTagsOfResource',
  'ListStreams',
  'DescribeStream',
  'GetShardIterator',
]);

const changesKeys = new Set(['CreateTable', 'UpdateTable', 'DeleteTable']);

/** Checked for its form only. */
const anyCredentials = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20000101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  'x-amz-date': '20000101T000000Z',
};

/** DynamoDB and its streams, in front of an engine. `onWrite` names the tables of each write that succeeded. */
export function createDynamoDbService(options: {
  engine: () => DynamoDbConnection;
  onWrite: (tableNames: string[]) => void;
  roughness: Roughness;
}): FrontDoorService {
  const call = (target: string, body: Buffer | string) => {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': target,
      ...anyCredentials,
    };
    const engine = { ...options.engine(), secondsMax: ANSWER_SECONDS_MAX };
    return forward(engine, { method: 'POST', path: '/', headers, body });
  };

  const schemas = new TableSchemas(async (table) => {
    const answer = await call('DynamoDB_20120810.DescribeTable', JSON.stringify({ TableName: table }));
    return answer.status === 200 ? (parseAnswer(answer)['Table'] as TableDescription) : undefined;
  });
  const keys = new PartitionKeys(schemas);
  const strict = new StrictDynamoDb(schemas, options.roughness);

  return {
    scope: 'dynamodb',
    protocol: 'json-1.0',

    async prepare(request): Promise<void> {
      const body = readBody(request);
      const index = typeof body['IndexName'] === 'string' ? body['IndexName'] : undefined;
      await schemas.learn(tablesTouched(jsonOperation(request), body), index);
    },

    access(request): Access[] {
      return dynamoDbAccess(jsonOperation(request), readBody(request), keys);
    },

    async handle(request): Promise<AwsResponse> {
      const operation = jsonOperation(request);
      const target = request.headers['x-amz-target'] ?? '';
      const version = target.slice(0, -operation.length);
      const { region, answersBeforeCommit } = options.engine();
      const asked = readBody(request);
      const answer = await strict.answer(operation, asked, (name, body) => {
        if (name === 'TransactWriteItems' && answersBeforeCommit) {
          return transact((part) => call(target, JSON.stringify(part)), body);
        }
        const sent = body === asked ? inItsWords(operation, request, region) : JSON.stringify(inShort(body));
        return call(`${version}${name}`, sent);
      });
      if (answer.status === 200) {
        if (changesKeys.has(operation)) schemas.forget(tableName(readBody(request)));
        const written = tablesWritten(operation, readBody(request));
        if (written.length > 0) options.onWrite(written);
      }
      const told = operation === 'DescribeStream' ? await withKeySchema(answer, schemas) : answer;
      return inOurWords(operation, readBody(request), told, region);
    },
  };
}

/** A request is looked at three times, and some are megabytes long. */
const bodies = new WeakMap<AwsRequest, Record<string, unknown>>();

function readBody(request: AwsRequest): Record<string, unknown> {
  const known = bodies.get(request);
  if (known !== undefined) return known;
  const body = jsonBody<unknown>(request);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AwsError('SerializationException', 'The body must be a JSON object.');
  }
  bodies.set(request, body as Record<string, unknown>);
  return body as Record<string, unknown>;
}

function inItsWords(operation: string, request: AwsRequest, region: string): Buffer | string {
  if (operation === 'GetRecords') return JSON.stringify(withItsIterator(readBody(request)));
  if (namesArns.has(operation)) return inRegion(request.body.toString('utf8'), REGION, region);
  const body = readBody(request);
  return inShort(body) === body ? request.body : JSON.stringify(inShort(body));
}

/** One may name a table by its ARN, but not in every operation of every engine. */
function inShort(body: Body): Body {
  const { TableName } = body;
  return typeof TableName === 'string' && plainName(TableName) !== TableName
    ? { ...body, TableName: plainName(TableName) }
    : body;
}

function inOurWords(
  operation: string,
  asked: Record<string, unknown>,
  answer: AwsResponse & { body: Buffer },
  region: string,
): AwsResponse {
  const isError = answer.status !== 200;
  if (!isError && operation !== 'GetRecords' && !namesArns.has(operation)) return answer;
  // The checksum was that of the body before.
  const { 'x-amz-crc32': _, ...headers } = answer.headers ?? {};
  const text = answer.body.toString('utf8');
  if (isError) return { ...answer, headers, body: inRegion(text, region, REGION) };
  if (operation === 'GetRecords') {
    const stream = String(asked['ShardIterator']).split(ITERATOR_MARK, 1)[0] ?? '';
    const { Records = [], NextShardIterator, ...rest } = JSON.parse(text) as RecordsAnswer;
    const body = JSON.stringify({
      ...rest,
      Records: Records.filter(isChange).map((record) => ({ ...record, awsRegion: REGION })),
      ...(NextShardIterator !== undefined && { NextShardIterator: ourIterator(stream, NextShardIterator) }),
    });
    return { ...answer, headers, body };
  }
  if (operation === 'GetShardIterator') {
    const { ShardIterator } = JSON.parse(text) as { ShardIterator: string };
    const body = JSON.stringify({ ShardIterator: ourIterator(String(asked['StreamArn']), ShardIterator) });
    return { ...answer, headers, body };
  }
  return { ...answer, headers, body: inRegion(text, region, REGION) };
}

interface RecordsAnswer {
  Records?: { eventName?: string; dynamodb?: { OldImage?: object; NewImage?: object } }[];
  NextShardIterator?: string;
}

/** AWS tells nothing of a write that changed nothing; Dynoxide does. */
function isChange({ eventName, dynamodb = {} }: NonNullable<RecordsAnswer['Records']>[number]): boolean {
  const { OldImage, NewImage } = dynamodb;
  return eventName !== 'MODIFY' || OldImage === undefined || !isDeepStrictEqual(OldImage, NewImage);
}

/** An iterator tells by itself which stream it reads: whether somebody may is asked again with every read. */
const ourIterator = (streamArn: string, iterator: string): string =>
  `${streamArn}${ITERATOR_MARK}${iterator}`;

function withItsIterator(body: Record<string, unknown>): Record<string, unknown> {
  const iterator = String(body['ShardIterator']);
  return { ...body, ShardIterator: iterator.slice(iterator.indexOf(ITERATOR_MARK) + 1) };
}

function inRegion(text: string, from: string, to: string): string {
  return text.replaceAll(`arn:aws:dynamodb:${from}:`, `arn:aws:dynamodb:${to}:`);
}
