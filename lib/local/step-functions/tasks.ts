import {
  DeleteItemCommand,
  DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  EventBridgeClient,
  EventBridgeServiceException,
  PutEventsCommand,
} from '@aws-sdk/client-eventbridge';
import { InvokeCommand, LambdaClient, LambdaServiceException } from '@aws-sdk/client-lambda';
import { SFNClient, SFNServiceException, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { SendMessageCommand, SQSClient, SQSServiceException } from '@aws-sdk/client-sqs';
import type { Principals } from '../iam/principals.ts';
import type { Json, JsonObject } from './asl.ts';
import { Failure } from './failure.ts';
import type { Resource } from './resources.ts';
import { functionFailure, nameCallFailure, type ServiceNames } from './task-errors.ts';

const LAMBDA = { prefix: 'Lambda', generic: 'AWSLambdaException', baseError: LambdaServiceException };
const SQS = { prefix: 'SQS', generic: 'AmazonSQSException', baseError: SQSServiceException };
const DYNAMODB = {
  prefix: 'DynamoDB',
  generic: 'AmazonDynamoDBException',
  baseError: DynamoDBServiceException,
};
const STATES = {
  prefix: 'StepFunctions',
  generic: 'AWSStepFunctionsException',
  baseError: SFNServiceException,
};
const EVENTS = {
  prefix: 'EventBridge',
  generic: 'AmazonEventBridgeException',
  baseError: EventBridgeServiceException,
};

const SESSION_NAME_LENGTH_MAX = 64;

interface Call {
  clients: Clients;
  /** Parameters, evaluated. */
  input: JsonObject;
  abortSignal: AbortSignal;
}

interface Integration {
  service: ServiceNames;
  call(call: Call): Promise<object>;
}

const INTEGRATIONS: Record<string, Integration> = {
  'lambda:invoke': { service: LAMBDA, call: invoke },
  'sqs:sendMessage': {
    service: SQS,
    call: ({ clients, input, abortSignal }) => {
      const message = { ...input, MessageBody: asText(input['MessageBody']) };
      return clients.sqs.send(new SendMessageCommand(message as never), { abortSignal });
    },
  },
  'dynamodb:getItem': onItem((input) => new GetItemCommand(input)),
  'dynamodb:putItem': onItem((input) => new PutItemCommand(input)),
  'dynamodb:updateItem': onItem((input) => new UpdateItemCommand(input)),
  'dynamodb:deleteItem': onItem((input) => new DeleteItemCommand(input)),
  'states:startExecution': { service: STATES, call: startExecution },
  'events:putEvents': { service: EVENTS, call: putEvents },
};

/** Calls what Task states name, with the rights of the machine's role and through the front door. */
export class Tasks {
  #principals: Principals;
  #clients = new Map<string, Clients>();

  constructor(principals: Principals) {
    this.#principals = principals;
  }

  async call(
    machine: { name: string; roleArn: string },
    resource: Resource,
    input: Json,
    abortSignal: AbortSignal,
  ): Promise<Json> {
    const clients = this.#clientsOf(machine);
    if (resource.functionArn !== undefined) {
      const direct = { FunctionName: resource.functionArn, Payload: input };
      const result = await perform(INTEGRATIONS['lambda:invoke'], { clients, input: direct, abortSignal });
      return (result as { Payload: Json }).Payload;
    }
    return perform(INTEGRATIONS[resource.integration], { clients, input: input as JsonObject, abortSignal });
  }

  stop(): void {
    for (const clients of this.#clients.values()) clients.destroy();
    this.#clients.clear();
  }

  #clientsOf({ name, roleArn }: { name: string; roleArn: string }): Clients {
    const key = JSON.stringify([name, roleArn]);
    let clients = this.#clients.get(key);
    if (!clients) {
      clients = new Clients(this.#principals.clientConfig(roleArn, name.slice(0, SESSION_NAME_LENGTH_MAX)));
      this.#clients.set(key, clients);
    }
    return clients;
  }
}

class Clients {
  lambda: LambdaClient;
  sqs: SQSClient;
  dynamodb: DynamoDBClient;
  states: SFNClient;
  events: EventBridgeClient;

  constructor(config: ReturnType<Principals['clientConfig']>) {
    // Many invocations are held open at once, each for as long as its function runs.
    this.lambda = new LambdaClient({ ...config, requestHandler: { httpAgent: { maxSockets: 256 } } });
    this.sqs = new SQSClient(config);
    this.dynamodb = new DynamoDBClient(config);
    this.states = new SFNClient(config);
    this.events = new EventBridgeClient(config);
  }

  destroy(): void {
    for (const client of [this.lambda, this.sqs, this.dynamodb, this.states, this.events]) client.destroy();
  }
}

async function perform(integration: Integration | undefined, call: Call): Promise<Json> {
  if (!integration) throw new Error('A resource that is not hosted passed validation.');
  try {
    return plain(await integration.call(call));
  } catch (error) {
    call.abortSignal.throwIfAborted();
    throw nameCallFailure(integration.service, error);
  }
}

function onItem(command: (input: never) => object): Integration {
  return {
    service: DYNAMODB,
    call: ({ clients, input, abortSignal }) =>
      clients.dynamodb.send(command(input as never) as GetItemCommand, { abortSignal }),
  };
}

async function invoke({ clients, input, abortSignal }: Call): Promise<object> {
  const { Payload: payload = {}, ...rest } = input;
  const command = new InvokeCommand({ ...rest, Payload: Buffer.from(JSON.stringify(payload)) } as never);
  const answer = await clients.lambda.send(command, { abortSignal });
  const text = Buffer.from(answer.Payload ?? []).toString('utf8');
  if (answer.FunctionError !== undefined) throw functionFailure(text);
  return {
    ExecutedVersion: answer.ExecutedVersion ?? '$LATEST',
    Payload: text === '' ? {} : (JSON.parse(text) as Json),
    StatusCode: answer.StatusCode ?? 200,
  };
}

async function startExecution({ clients, input, abortSignal }: Call): Promise<object> {
  const command = new StartExecutionCommand({
    stateMachineArn: input['StateMachineArn'] as string,
    name: input['Name'] as string | undefined,
    input: asText(input['Input']),
  });
  const { executionArn, startDate } = await clients.states.send(command, { abortSignal });
  return { ExecutionArn: executionArn, StartDate: startDate?.getTime() };
}

async function putEvents({ clients, input, abortSignal }: Call): Promise<object> {
  const entries = input['Entries'] as JsonObject[];
  const command = new PutEventsCommand({
    ...input,
    Entries: entries.map((entry) => ({ ...entry, Detail: asText(entry['Detail']) })),
  });
  const answer = await clients.events.send(command, { abortSignal });
  if ((answer.FailedEntryCount ?? 0) > 0)
    throw new Failure('EventBridge.FailedEntry', JSON.stringify(plain(answer)));
  return answer;
}

/** Messages, event details and inputs are text on the wire; definitions may give them as objects. */
function asText(value: Json | undefined): string | undefined {
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}

function plain(output: object): Json {
  const { $metadata: _metadata, ...rest } = output as Record<string, unknown>;
  const text = JSON.stringify(rest, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  );
  return JSON.parse(text) as Json;
}
