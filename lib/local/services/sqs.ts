import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  ACCOUNT,
  AwsError,
  REGION,
  jsonAnswer,
  jsonBody,
  jsonOperation,
  type Access,
  type AwsRequest,
  type AwsResponse,
} from '../wire/aws.ts';
import { forward, type EngineAddress } from '../wire/forward.ts';
import type { FrontDoorService } from '../iam/front-door.ts';
import { moveMessages, queueOfArn } from './sqs-move.ts';

/** A long poll lasts 20 seconds at most. */
const ANSWER_SECONDS_MAX = 30;

/** Each operation the engine has, and the permission AWS asks for it: a batch needs that of its parts. */
const actions = new Map(
  Object.entries({
    CreateQueue: 'sqs:CreateQueue',
    DeleteQueue: 'sqs:DeleteQueue',
    GetQueueUrl: 'sqs:GetQueueUrl',
    ListQueues: 'sqs:ListQueues',
    GetQueueAttributes: 'sqs:GetQueueAttributes',
    SetQueueAttributes: 'sqs:SetQueueAttributes',
    PurgeQueue: 'sqs:PurgeQueue',
    SendMessage: 'sqs:SendMessage',
    SendMessageBatch: 'sqs:SendMessage',
    ReceiveMessage: 'sqs:ReceiveMessage',
    DeleteMessage: 'sqs:DeleteMessage',
    DeleteMessageBatch: 'sqs:DeleteMessage',
    ChangeMessageVisibility: 'sqs:ChangeMessageVisibility',
    ChangeMessageVisibilityBatch: 'sqs:ChangeMessageVisibility',
    TagQueue: 'sqs:TagQueue',
    UntagQueue: 'sqs:UntagQueue',
    ListQueueTags: 'sqs:ListQueueTags',
  }),
);

const namesItsQueue = new Set(['CreateQueue', 'GetQueueUrl']);
const answersWithUrls = new Set(['CreateQueue', 'GetQueueUrl', 'ListQueues']);

interface QueueAnswer {
  QueueUrl?: string;
  QueueUrls?: string[];
  Messages?: { MessageId: string; ReceiptHandle: string }[];
}

/** `endpoint` is the front door's, which every queue URL must lead back to. */
export function createSqsService(options: {
  engine: () => EngineAddress;
  endpoint: () => string;
}): FrontDoorService {
  const call = (operation: string, body: unknown) =>
    forward(
      { name: 'The queue engine', ...options.engine(), secondsMax: ANSWER_SECONDS_MAX },
      {
        method: 'POST',
        path: '/',
        headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${operation}` },
        body: JSON.stringify(body),
      },
    );

  const ask = async (operation: string, body: object): Promise<unknown> => {
    const answer = await call(operation, body);
    const said = JSON.parse(answer.body.toString('utf8') || '{}') as { __type?: string; message?: string };
    if (answer.status === 200) return said;
    throw new AwsError(
      said.__type?.split('#').at(-1) ?? 'InternalFailure',
      said.message ?? '',
      answer.status,
    );
  };

  async function move(request: AwsRequest): Promise<AwsResponse> {
    const { SourceArn, DestinationArn } = jsonBody<Move>(request);
    const [from, to] = [queueOfArn(SourceArn, 'SourceArn'), queueOfArn(DestinationArn, 'DestinationArn')];
    return jsonAnswer(await moveMessages(ask, from, to));
  }

  return {
    scope: 'sqs',
    protocol: 'json-1.0',

    access(request): Access[] {
      if (jsonOperation(request) === MOVE) return moveAccess(request);
      const action = actions.get(jsonOperation(request));
      if (action === undefined) throw unknownOperation(request);
      if (action === 'sqs:ListQueues') return [{ action, resource: '*' }];
      return [{ action, resource: queueArn(queueName(request)) }];
    },

    async handle(request): Promise<AwsResponse> {
      const operation = jsonOperation(request);
      if (operation === MOVE) return move(request);
      const answer = await call(operation, jsonBody(request));
      if (operation === 'ReceiveMessage') await noticeWhoLeft();
      if (answer.status !== 200 || !answersWithUrls.has(operation)) return answer;
      return { ...answer, body: JSON.stringify(withOwnUrls(answer.body, options.endpoint())) };
    },

    /** A reader that went away during its long poll must not take a message with it. */
    async undelivered(request, response): Promise<void> {
      if (jsonOperation(request) !== 'ReceiveMessage' || response.status !== 200) return;
      const { Messages = [] } = JSON.parse(String(response.body)) as QueueAnswer;
      if (Messages.length === 0) return;
      await call('ChangeMessageVisibilityBatch', {
        QueueUrl: jsonBody<{ QueueUrl: string }>(request).QueueUrl,
        Entries: Messages.map(({ ReceiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout: 0,
        })),
      });
    },
  };
}

/**
 * The engine answers within this process, faster than the end of a connection becomes known: its last packet is read in
 * one turn of the event loop, and the connection closed in the next.
 */
async function noticeWhoLeft(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await nextTurn();
}

const MOVE = 'StartMessageMoveTask';

interface Move {
  SourceArn?: unknown;
  DestinationArn?: unknown;
}

/** Whoever moves messages must be allowed to take them from the one queue and to put them into the other, which is named. */
function moveAccess(request: AwsRequest): Access[] {
  const { SourceArn, DestinationArn } = jsonBody<Move>(request);
  const from = queueArn(queueOfArn(SourceArn, 'SourceArn'));
  const taken = ['sqs:StartMessageMoveTask', 'sqs:ReceiveMessage', 'sqs:DeleteMessage'];
  const to = queueArn(queueOfArn(DestinationArn, 'DestinationArn'));
  return [
    ...taken.map((action) => ({ action, resource: from })),
    { action: 'sqs:SendMessage', resource: to },
  ];
}

const queueArn = (name: string): string => `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`;

function queueName(request: AwsRequest): string {
  const body = jsonBody<{ QueueName?: unknown; QueueUrl?: unknown } | null>(request);
  // Only the field that the engine will read: authorizing one queue and using another would be a hole.
  const field = namesItsQueue.has(jsonOperation(request)) ? 'QueueName' : 'QueueUrl';
  const value = body?.[field];
  const name = typeof value === 'string' ? value.slice(value.lastIndexOf('/') + 1) : '';
  if (/^[\w-]{1,80}(\.fifo)?$/.test(name)) return name;
  throw new AwsError(
    'InvalidParameterValue',
    `${field} must name a queue: letters, digits, _ and -, at most 80.`,
  );
}

/** The engine remembers the address under which a queue was made; this run's may be another. */
function withOwnUrls(body: Buffer, endpoint: string): QueueAnswer {
  const answer = JSON.parse(body.toString('utf8')) as QueueAnswer;
  const own = (url: string) => `${endpoint}/${ACCOUNT}/${url.slice(url.lastIndexOf('/') + 1)}`;
  return {
    ...answer,
    ...(answer.QueueUrl !== undefined && { QueueUrl: own(answer.QueueUrl) }),
    ...(answer.QueueUrls !== undefined && { QueueUrls: answer.QueueUrls.map(own) }),
  };
}

function unknownOperation(request: AwsRequest): AwsError {
  return new AwsError('UnknownOperationException', `SQS here has no operation '${jsonOperation(request)}'.`);
}
