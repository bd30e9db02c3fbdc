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
import { DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { DynamoDBRecord, SQSEvent } from 'aws-lambda';
import { v7 } from 'uuid';
import { dynamo, eventBridge, socketPosts, sqs } from '../../functions/platform/clients.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import type { DomainEvent } from '../../functions/platform/events.ts';
import { insertSaid } from '../../functions/platform/data/outbox.ts';
import { authorizationCache } from '../../functions/platform/auth/authorization-cache.ts';
import { newId } from '../../functions/platform/ids.ts';
import { feedHeadKey, feedPartition, OUTBOX_KIND } from '../../functions/platform/data/keys.ts';
import { handler as dispatch } from '../../functions/events/dispatch-events.ts';
import { handler as relayAgain } from '../../functions/events/relay-again.ts';
import { askBusAgain } from '../../functions/events/put-on-bus.ts';
import { handler as relay } from '../../functions/events/relay-events.ts';
import { handler as sweep } from '../../functions/events/sweep-outbox.ts';
import { AwsError, jsonAnswer, jsonBody, type Service } from '../../lib/local/wire/aws.ts';
import { openJournal } from '../../lib/local/journal/journal.ts';
import { createEventsService } from '../../lib/local/services/events.ts';
import { createControlTable } from '../control-table.ts';
import { openDynamoDb } from '../dynamodb.ts';
import { openAwsServices } from '../local/services/aws-services-world.ts';
import { countRepeats, testRoughness } from '../rough.ts';

interface Posted {
  connectionId: string;
  message: Record<string, unknown> & { event?: { event_id: string; sequence: number; project_id?: string } };
}

type Middleware = (next: (args: unknown) => Promise<unknown>) => (args: unknown) => Promise<unknown>;

/** The end of the process, as the calls it would have made notice it: like a network that has gone. */
class Died extends Error {
  code = 'ECONNRESET';
}

/** What the domains of these tests react to, one queue each. */
export const REACTED = { ones: ['a.b.reacted', 'a.b.both'], others: ['a.b.both', 'a.b.other'] };

/**
 * The readers of the stream over a real table with a real stream, real queues and the local event bus. Posts to sockets
 * are written down as the gateway would take them.
 */
export async function openRelayWorld({ roughness = testRoughness() } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-relay-'));
  const dynamodb = await openDynamoDb({ alone: true });
  const journal = openJournal(dataDir);
  const bus = createEventsService({ journal });
  const posted: Posted[] = [];
  const gone = new Set<string>();
  const broken = new Set<string>();
  const requests: number[] = [];
  let busRefusals = 0;
  let isBusAway = false;
  const unwelcome = new Set<string>();

  const fickleBus: Service = {
    ...bus,
    async handle(request) {
      // A grant that is missing is an outage too, and one that the client does not wait for.
      if (isBusAway) throw new AwsError('AccessDeniedException', 'Not allowed.', 400);
      const { Entries } = jsonBody<{ Entries: { Detail: string; DetailType: string }[] }>(request);
      requests.push(Entries.length);
      if (busRefusals > 0) {
        busRefusals -= 1;
        const refused = { ErrorCode: 'InternalFailure', ErrorMessage: 'Not now.' };
        return jsonAnswer({ FailedEntryCount: Entries.length, Entries: Entries.map(() => refused) });
      }
      const bad = Entries.map(({ DetailType }) => unwelcome.has(DetailType));
      if (!bad.includes(true)) return bus.handle(request);
      const taken = { ...jsonBody<object>(request), Entries: Entries.filter((_, index) => !bad[index]) };
      if (taken.Entries.length > 0)
        await bus.handle({ ...request, body: Buffer.from(JSON.stringify(taken)) });
      const refused = { ErrorCode: 'InvalidArgument', ErrorMessage: 'Never.' };
      return jsonAnswer({
        FailedEntryCount: bad.filter(Boolean).length,
        Entries: bad.map((isBad) => (isBad ? refused : { EventId: newId() })),
      });
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
  const { happens, repeats } = countRepeats(roughness);
  const services = await openAwsServices({
    dynamodb,
    roughness: happens,
    services: [fickleBus, sockets],
  });
  const { accessKeyId, secretAccessKey } = services.principals.operator();
  const direct = { endpoint: dynamodb.url, region: 'us-east-1' };
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const table = DynamoDBDocumentClient.from(new DynamoDBClient({ ...direct, credentials }));
  const queues = new SQSClient(services.asOperator());
  const queueUrl = async (name: string): Promise<string> => {
    const { QueueUrl = '' } = await queues.send(new CreateQueueCommand({ QueueName: name }));
    return QueueUrl;
  };
  const urls = {
    ones: await queueUrl('ones'),
    others: await queueUrl('others'),
    again: await queueUrl('again'),
    failures: await queueUrl('failures'),
  };
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: services.url,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AUTHORIZATION_CACHE_SECONDS: '5',
    CONTROL_TABLE: dynamodb.table,
    EVENT_BUS_NAME: 'events',
    FAILURE_QUEUE_URL: urls.failures,
    QUEUE_URL: urls.again,
    REACTION_QUEUES: JSON.stringify([
      { url: urls.ones, types: REACTED.ones },
      { url: urls.others, types: REACTED.others },
    ]),
    RELAY_QUEUE_URL: urls.again,
    SOCKET_URL: `${services.url.replace(/^http/, 'ws')}/live`,
  });
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
      const { RequestItems = {} } = args.input as { RequestItems?: Record<string, { Keys?: unknown }> };
      const answer = await next(args);
      const isRead = Object.values(RequestItems).some(({ Keys }) => Keys !== undefined);
      if (!isRead || busyReads === 0) return answer;
      busyReads -= 1;
      return { ...answer, output: { ...answer.output, Responses: {}, UnprocessedKeys: RequestItems } };
    },
    { step: 'initialize', name: 'busy', priority: 'high' },
  );
  for (const client of [dynamo(), eventBridge(), socketPosts(), sqs()]) {
    const stack = client.middlewareStack as unknown as { add(layer: Middleware, options: object): void };
    stack.add(mortal, { step: 'initialize', name: 'mortal' });
  }

  return {
    posted,
    gone,
    broken,
    /** Types of events that the bus refuses for good. */
    unwelcome,
    bus: () => bus.recent().map(({ bus: name, source, ...event }) => ({ name, source, ...event })),
    /** How many events each request to the bus had. */
    busRequests: requests,
    refuseOnBus: (times: number) => void (busRefusals = times),
    askBusAgain,
    takeBusAway(isAway: boolean): void {
      isBusAway = isAway;
      if (!isAway) askBusAgain();
    },
    beTooBusyToRead: (times: number) => void (busyReads = times),
    forgetAuthorization: () => authorizationCache.clear(),
    put: (item: Record<string, unknown>) =>
      table.send(new PutCommand({ TableName: dynamodb.table, Item: item })).then(() => undefined),

    /** As a command would: all of them at once. Returns their ids in the order they were said. */
    say: (place: { org_id?: string; project_id?: string }, ...said: (DomainEvent | string)[]) =>
      sayAt(new Date(), place, ...said),

    /** The same, so many minutes ago. */
    sayBefore: (minutes: number, place: { org_id?: string; project_id?: string }, ...said: string[]) =>
      sayAt(new Date(Date.now() - minutes * 60_000), place, ...said),

    /** Outbox rows in the order of the stream that have not been taken from it. */
    take: async () => (await stream()).filter(isOutboxInsert),

    handler: relay,
    dispatch,
    sweep: () => sweep({}),

    /** Delivers as Lambda does: from the first that is left on, so often. */
    async deliver(records: DynamoDBRecord[], times = 20): Promise<DynamoDBRecord[]> {
      let rest = records;
      for (let left = times; left > 0 && rest.length > 0; left -= 1) {
        const outcome = await relay({ Records: rest }).catch(() => undefined);
        const named = outcome?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
        const at = named
          ? rest.findIndex((record) => named.includes(record.dynamodb?.SequenceNumber ?? ''))
          : 0;
        rest = at === -1 ? [] : rest.slice(at);
      }
      return rest;
    },

    /** Takes the messages off a queue. */
    async received(name: keyof typeof urls): Promise<Record<string, unknown>[]> {
      const bodies: Record<string, unknown>[] = [];
      for (;;) {
        const { Messages = [] } = await queues.send(
          new ReceiveMessageCommand({ QueueUrl: urls[name], MaxNumberOfMessages: 10 }),
        );
        if (Messages.length === 0) return bodies;
        for (const { Body = '', ReceiptHandle } of Messages) {
          bodies.push(JSON.parse(Body) as Record<string, unknown>);
          await queues.send(new DeleteMessageCommand({ QueueUrl: urls[name], ReceiptHandle }));
        }
      }
    },

    /** Gives what was set aside to who tries it again, as if for the so-many-th time; returns what comes again. */
    async relayAgain(bodies: Record<string, unknown>[], deliveries = 1): Promise<unknown[]> {
      const attributes = {
        ApproximateReceiveCount: String(deliveries),
        SentTimestamp: String(Date.now()),
      };
      const Records = bodies.map((body, index) => ({
        messageId: String(index),
        receiptHandle: 'unknown',
        body: JSON.stringify(body),
        attributes,
      }));
      const { batchItemFailures } = await relayAgain({ Records } as unknown as SQSEvent);
      return batchItemFailures;
    },

    /** Lets the process die at its next so-many-th call, when the call has been made or before it. */
    dieAt(call: number, moment: 'before' | 'after'): void {
      callsLeft = call;
      isAnswered = moment === 'after';
    },
    live(): void {
      // What a process remembered died with it.
      askBusAgain();
      callsLeft = Infinity;
    },
    /** Without those that chance had it make again. */
    calls: () => calls - repeats(),

    /** How far the feed of a place has come, and how far the bus was told. */
    head: async (place: string) =>
      (await table.send(new GetCommand({ TableName: dynamodb.table, Key: feedHeadKey(place) }))).Item,

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

async function sayAt(
  now: Date,
  place: { org_id?: string; project_id?: string },
  ...said: (DomainEvent | string)[]
): Promise<string[]> {
  const about = { occurred_at: now.toISOString(), actor: 'user:u1', correlation_id: newId(), ...place };
  const events = said.map((each) => ({
    ...(typeof each === 'string' ? { type: each, version: 1, data: {} } : each),
    event_id: v7({ msecs: now.getTime(), seq: (sequence += 1) }),
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    ...about,
  }));
  await commit(insertSaid(events, now));
  return events.map(({ event_id }) => event_id);
}

/** Ids of one moment sort by this. */
let sequence = 0;

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
