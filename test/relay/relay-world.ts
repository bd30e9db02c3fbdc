import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { dynamo, eventBridge, socketPosts, stepFunctions } from '../../functions/platform/clients.ts';
import { commit } from '../../functions/platform/commit.ts';
import { type DomainEvent, insertOutbox } from '../../functions/platform/events.ts';
import { facts } from '../../functions/platform/facts.ts';
import { newId } from '../../functions/platform/ids.ts';
import { feedPartition, OUTBOX_KIND } from '../../functions/platform/keys.ts';
import { handler } from '../../functions/relay/relay-events.ts';
import { AwsError, jsonAnswer, jsonBody, type Service } from '../../lib/local/aws.ts';
import { openJournal } from '../../lib/local/journal.ts';
import { createEventsService } from '../../lib/local/services/events.ts';
import { createControlTable } from '../control-table.ts';
import { openDynamoDb } from '../dynamodb.ts';
import { openAwsServices } from '../local/aws-services-world.ts';

interface Posted {
  connectionId: string;
  message: Record<string, unknown> & { event?: { event_id: string; sequence: number; project_id?: string } };
}

type Middleware = (next: (args: unknown) => Promise<unknown>) => (args: unknown) => Promise<unknown>;

/** The end of the process, as the calls it would have made notice it. */
class Died extends Error {}

/**
 * The relay over a real table with a real stream and the local event bus. Posts to sockets and starts of executions
 * are written down as the gateway and Step Functions would take them.
 */
export async function openRelayWorld() {
  const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-relay-'));
  const dynamodb = await openDynamoDb({ alone: true });
  const journal = openJournal(dataDir);
  const bus = createEventsService({ journal });
  const posted: Posted[] = [];
  const gone = new Set<string>();
  const broken = new Set<string>();
  const started: string[] = [];
  let busRefusals = 0;
  let startRefusals = 0;

  const refusingBus: Service = {
    ...bus,
    handle(request) {
      if (busRefusals === 0) return bus.handle(request);
      busRefusals -= 1;
      const Entries = [{ ErrorCode: 'InternalFailure', ErrorMessage: 'Not now.' }];
      return Promise.resolve(jsonAnswer({ FailedEntryCount: 1, Entries }));
    },
  };
  const sockets: Service = {
    scope: 'execute-api',
    protocol: 'rest-json',
    access: () => [],
    async handle({ path, body }) {
      const connectionId = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
      if (gone.has(connectionId)) throw new AwsError('GoneException', 'Gone.', 410);
      if (broken.has(connectionId)) throw new AwsError('LimitExceededException', 'Too much.', 429);
      posted.push({ connectionId, message: JSON.parse(body.toString('utf8')) as Posted['message'] });
      return { status: 200 };
    },
  };
  const states: Service = {
    scope: 'states',
    protocol: 'json-1.0',
    access: () => [],
    async handle(request) {
      const { name = '' } = jsonBody<{ name?: string }>(request);
      if (startRefusals > 0) {
        startRefusals -= 1;
        throw new AwsError('ExecutionLimitExceeded', 'Too many run.');
      }
      if (started.includes(name)) throw new AwsError('ExecutionAlreadyExists', 'It runs.');
      started.push(name);
      return jsonAnswer({ executionArn: name, startDate: 0 });
    },
  };
  const services = await openAwsServices({
    dynamodb,
    services: [refusingBus, sockets, states],
  });
  const { accessKeyId, secretAccessKey } = services.principals.operator();
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: services.url,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AUTHORIZATION_CACHE_SECONDS: '5',
    CONTROL_TABLE: dynamodb.table,
    EVENT_BUS_NAME: 'events',
    SELFTEST_MACHINE_ARN: 'arn:aws:states:us-east-1:000000000000:stateMachine:run-selftest',
    SOCKET_URL: `${services.url.replace(/^http/, 'ws')}/live`,
  });
  const direct = { endpoint: dynamodb.url, region: 'us-east-1' };
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const table = DynamoDBDocumentClient.from(new DynamoDBClient({ ...direct, credentials }));
  const stream = await readStream(
    await createControlTable(dynamodb.table, table, {
      StreamEnabled: true,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    }),
    new DynamoDBStreamsClient({ ...direct, credentials }),
  );

  let callsLeft = Infinity;
  let isAnswered = true;
  let calls = 0;
  const mortal: Middleware = (next) => async (args) => {
    calls += 1;
    if (callsLeft <= 0) throw new Died();
    callsLeft -= 1;
    if (callsLeft > 0) return next(args);
    if (isAnswered) await next(args);
    throw new Died();
  };
  let busyReads = 0;
  // DynamoDB answers so when it is asked for more than it can read at the moment.
  dynamo().middlewareStack.add(
    (next) => async (args) => {
      const { RequestItems } = args.input as { RequestItems?: Record<string, unknown> };
      const answer = await next(args);
      if (RequestItems === undefined || busyReads === 0) return answer;
      busyReads -= 1;
      return { ...answer, output: { ...answer.output, Responses: {}, UnprocessedKeys: RequestItems } };
    },
    { step: 'initialize', name: 'busy', priority: 'high' },
  );
  for (const client of [dynamo(), eventBridge(), socketPosts(), stepFunctions()]) {
    const stack = client.middlewareStack as unknown as { add(layer: Middleware, options: object): void };
    stack.add(mortal, { step: 'initialize', name: 'mortal' });
  }

  return {
    posted,
    gone,
    broken,
    started,
    bus: () => bus.recent().map(({ bus: name, source, ...event }) => ({ name, source, ...event })),
    refuseOnBus: (times: number) => void (busRefusals = times),
    refuseToStart: (times: number) => void (startRefusals = times),
    beTooBusyToRead: (times: number) => void (busyReads = times),
    forgetFacts: () => facts.clear(),
    put: (item: Record<string, unknown>) =>
      table.send(new PutCommand({ TableName: dynamodb.table, Item: item })).then(() => undefined),

    /** As a command would: all of them at once. Returns their ids in the order they were said. */
    async say(place: { org_id?: string; project_id?: string }, ...said: (DomainEvent | string)[]) {
      const now = new Date();
      const about = { occurred_at: now.toISOString(), actor: 'user:u1', correlation_id: newId(), ...place };
      const events = said.map((each) => ({
        ...(typeof each === 'string' ? { type: each, version: 1, data: {} } : each),
        event_id: newId(),
        ...about,
      }));
      await commit(events.map((event) => insertOutbox(event, now)));
      return events.map(({ event_id }) => event_id);
    },

    /** Outbox rows in the order of the stream that have not been taken from it. */
    take: async () => (await stream()).filter(isOutboxInsert),

    handler,

    /** Delivers as Lambda does: from the first that is left on, halving a batch that fails as a whole. */
    async deliver(records: DynamoDBRecord[], { retriesMax = 20 } = {}): Promise<DynamoDBRecord[]> {
      const givenUp: DynamoDBRecord[] = [];
      let rest = records;
      let failures = 0;
      while (rest.length > 0) {
        const outcome = await handler({ Records: rest }).catch(() => 'failed' as const);
        if (outcome === 'failed' && rest.length > 1) {
          const half = Math.ceil(rest.length / 2);
          givenUp.push(...(await this.deliver(rest.slice(0, half), { retriesMax })));
          rest = rest.slice(half);
          continue;
        }
        const named =
          outcome === 'failed' ? [] : outcome.batchItemFailures.map((each) => each.itemIdentifier);
        const left = rest.findIndex((record) => named.includes(record.dynamodb?.SequenceNumber ?? ''));
        if (outcome !== 'failed' && left === -1) break;
        failures = left > 0 ? 0 : failures + 1;
        rest = rest.slice(Math.max(left, 0));
        if (failures > retriesMax) {
          givenUp.push(...rest);
          break;
        }
      }
      return givenUp;
    },

    /** Lets the process die at its next so-many-th call, when the call has been made or before it. */
    dieAt(call: number, moment: 'before' | 'after'): void {
      callsLeft = call;
      isAnswered = moment === 'after';
    },
    live(): void {
      callsLeft = Infinity;
    },
    calls: () => calls,

    async feed(place: string): Promise<Record<string, unknown>[]> {
      const items: Record<string, unknown>[] = [];
      let from: Record<string, unknown> | undefined;
      do {
        const page = await table.send(
          new QueryCommand({
            TableName: dynamodb.table,
            KeyConditionExpression: 'pk = :feed AND begins_with(sk, :event)',
            ExpressionAttributeValues: { ':feed': feedPartition(place), ':event': 'EVENT#' },
            ExclusiveStartKey: from,
          }),
        );
        items.push(...(page.Items ?? []));
        from = page.LastEvaluatedKey;
      } while (from);
      return items;
    },

    async close(): Promise<void> {
      await services.close();
      await dynamodb.close();
      journal.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export type RelayWorld = Awaited<ReturnType<typeof openRelayWorld>>;

/** A reader that gives the stream's records, each once. */
async function readStream(
  StreamArn: string,
  client: DynamoDBStreamsClient,
): Promise<() => Promise<DynamoDBRecord[]>> {
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId;
  let { ShardIterator } = await client.send(
    new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
  );
  return async () => {
    const records: DynamoDBRecord[] = [];
    for (;;) {
      const { Records = [], NextShardIterator } = await client.send(new GetRecordsCommand({ ShardIterator }));
      ShardIterator = NextShardIterator;
      records.push(...(Records as DynamoDBRecord[]));
      if (Records.length === 0) return records;
    }
  };
}

function isOutboxInsert({ eventName, dynamodb }: DynamoDBRecord): boolean {
  return eventName === 'INSERT' && dynamodb?.NewImage?.['kind']?.S === OUTBOX_KIND;
}
