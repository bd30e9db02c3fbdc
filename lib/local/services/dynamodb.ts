import {
  AwsError,
  REGION,
  jsonBody,
  jsonOperation,
  type Access,
  type AwsRequest,
  type AwsResponse,
} from '../aws.ts';
import { forward } from '../forward.ts';
import type { FrontDoorService } from '../front-door.ts';
import {
  dynamoDbAccess,
  inItsRegion,
  inOurRegion,
  tableName,
  tablesTouched,
  tablesWritten,
} from './dynamodb-access.ts';
import { PartitionKeys } from './dynamodb-keys.ts';
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
const anyCredentials =
  'AWS4-HMAC-SHA256 Credential=local/20000101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0';

/** DynamoDB and its streams, in front of DynamoDB Local. `onWrite` names the tables of each write that succeeded. */
export function createDynamoDbService(options: {
  url: () => string;
  onWrite: (tableNames: string[]) => void;
}): FrontDoorService {
  const call = (target: string, body: Buffer | string) =>
    forward(
      { name: 'DynamoDB Local', url: options.url(), secondsMax: ANSWER_SECONDS_MAX },
      {
        method: 'POST',
        path: '/',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': target,
          authorization: anyCredentials,
        },
        body,
      },
    );

  const keys = new PartitionKeys(async (table) => {
    const answer = await call('DynamoDB_20120810.DescribeTable', JSON.stringify({ TableName: table }));
    return answer.status === 200
      ? (JSON.parse(answer.body.toString('utf8')) as { Table: unknown }).Table
      : undefined;
  });

  return {
    scope: 'dynamodb',
    protocol: 'json-1.0',

    async prepare(request): Promise<void> {
      const body = readBody(request);
      const index = typeof body['IndexName'] === 'string' ? body['IndexName'] : undefined;
      await keys.learn(tablesTouched(jsonOperation(request), body), index);
    },

    access(request): Access[] {
      return dynamoDbAccess(jsonOperation(request), readBody(request), keys);
    },

    async handle(request): Promise<AwsResponse> {
      const operation = jsonOperation(request);
      const target = request.headers['x-amz-target'] ?? '';
      const answer =
        operation === 'TransactWriteItems'
          ? await transact((body) => call(target, JSON.stringify(body)), readBody(request))
          : await call(target, requestBody(operation, request));
      if (answer.status === 200) {
        if (changesKeys.has(operation)) keys.forget(tableName(readBody(request)));
        const written = tablesWritten(operation, readBody(request));
        if (written.length > 0) options.onWrite(written);
      }
      return inOurWords(operation, answer);
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

function requestBody(operation: string, request: AwsRequest): Buffer | string {
  if (!namesArns.has(operation) && operation !== 'GetRecords') return request.body;
  return inItsRegion(request.body.toString('utf8'));
}

function inOurWords(operation: string, answer: AwsResponse & { body: Buffer }): AwsResponse {
  const isError = answer.status !== 200;
  if (!isError && operation !== 'GetRecords' && !namesArns.has(operation)) return answer;
  // The checksum was that of the body before.
  const { 'x-amz-crc32': _, ...headers } = answer.headers ?? {};
  if (isError || operation !== 'GetRecords')
    return { ...answer, headers, body: inOurRegion(answer.body.toString('utf8')) };
  const {
    Records = [],
    NextShardIterator,
    ...rest
  } = JSON.parse(answer.body.toString('utf8')) as {
    Records?: object[];
    NextShardIterator?: string;
  };
  const body = JSON.stringify({
    ...rest,
    Records: Records.map((record) => ({ ...record, awsRegion: REGION })),
    ...(NextShardIterator !== undefined && { NextShardIterator: inOurRegion(NextShardIterator) }),
  });
  return { ...answer, headers, body };
}
