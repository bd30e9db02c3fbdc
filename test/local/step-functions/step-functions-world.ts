import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  SFNClient,
  StartExecutionCommand,
  type DescribeExecutionOutput,
  type HistoryEvent,
} from '@aws-sdk/client-sfn';
import {
  ACCOUNT,
  AwsError,
  REGION,
  type PolicyStatement,
  type Service,
} from '../../../lib/local/wire/aws.ts';
import { openFrontDoor, type FrontDoorService } from '../../../lib/local/iam/front-door.ts';
import { Iam } from '../../../lib/local/iam/iam.ts';
import { openJournal } from '../../../lib/local/journal/journal.ts';
import { Principals, type AwsCredentials } from '../../../lib/local/iam/principals.ts';
import { StepFunctions, type MachineSpec } from '../../../lib/local/step-functions/index.ts';
import { until } from '../../until.ts';

type Handler = (input: never) => unknown;

const ANYTHING: PolicyStatement[] = [{ Effect: 'Allow', Action: '*', Resource: '*' }];

/** Step Functions as its callers meet it: over HTTP, signed, with IAM in between, and able to die. */
export async function openStepFunctionsWorld(
  options: { services?: FrontDoorService[]; dataDir?: string; secret?: Buffer } = {},
) {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'step-functions-'));
  const handlers: Record<string, Handler> = {};
  const iam = new Iam();
  const principals: Principals = new Principals(options.secret ?? randomBytes(32), () => frontDoor.url);
  const hosted = new Map<string, MachineSpec>();

  let journal = openJournal(dataDir);
  let machines = new StepFunctions({ journal, principals });
  const services: FrontDoorService[] = [
    {
      scope: 'states',
      protocol: 'json-1.0',
      access: (request) => machines.service.access(request),
      handle: (request) => machines.service.handle(request),
    },
    lambdaFrom(handlers),
    ...(options.services ?? []),
  ];
  const frontDoor = await openFrontDoor({
    port: 0,
    principals,
    iam,
    services,
    fallback: (_request, response) => void response.writeHead(404).end(),
    upgrade: (_request, socket) => void socket.destroy(),
  });
  // Given a folder that was used before, a test says itself when everything is there to go on.
  if (options.dataDir === undefined) machines.start();

  const client = (credentials: AwsCredentials): SFNClient =>
    new SFNClient({ endpoint: frontDoor.url, region: REGION, credentials, maxAttempts: 1 });
  const sfn = client(principals.operator());

  const role = (statements: PolicyStatement[], name = randomBytes(6).toString('hex')): string => {
    const arn = `arn:aws:iam::${ACCOUNT}:role/${name}`;
    iam.putRole({
      arn,
      trust: { Version: '2012-10-17', Statement: [] },
      policies: statements.length === 0 ? [] : [{ Version: '2012-10-17', Statement: statements }],
    });
    return arn;
  };

  const describe = (executionArn: string): Promise<DescribeExecutionOutput> =>
    sfn.send(new DescribeExecutionCommand({ executionArn }));

  return {
    dataDir,
    sfn,
    iam,
    principals,
    services,
    endpoint: frontDoor.url,
    client,
    role,
    /** Lambda functions: their names, and what they do when invoked. */
    functions: handlers,
    get machines() {
      return machines;
    },

    /** Hosts a machine and returns its ARN. */
    put(definition: object, place: { name?: string; grants?: PolicyStatement[] } = {}): string {
      const name = place.name ?? `machine-${randomBytes(6).toString('hex')}`;
      const arn = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${name}`;
      const spec = { name, arn, roleArn: role(place.grants ?? ANYTHING, name), definition };
      machines.put(spec);
      hosted.set(arn, spec);
      return arn;
    },

    async start(stateMachineArn: string, input: unknown = {}, name?: string): Promise<string> {
      const command = new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) });
      const { executionArn } = await sfn.send(command);
      return executionArn ?? '';
    },

    describe,

    async end(executionArn: string): Promise<DescribeExecutionOutput & { result: unknown }> {
      const ended = await until(async () => {
        const seen = await describe(executionArn);
        return seen.status !== 'RUNNING' && seen;
      }, `the end of ${executionArn}`);
      return { ...ended, result: ended.output === undefined ? undefined : JSON.parse(ended.output) };
    },

    async history(executionArn: string): Promise<HistoryEvent[]> {
      const answer = await sfn.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1000 }));
      return answer.events ?? [];
    },

    /** Stops without a trace in the journal, as `kill -9` would, and starts anew from the file. */
    async crash(whileDown: () => void | Promise<void> = () => undefined): Promise<void> {
      await machines.stop();
      journal.close();
      await whileDown();
      journal = openJournal(dataDir);
      machines = new StepFunctions({ journal, principals });
      for (const spec of hosted.values()) machines.put(spec);
      machines.start();
    },

    async close(): Promise<void> {
      await machines.stop();
      await frontDoor.close();
      journal.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export type StepFunctionsWorld = Awaited<ReturnType<typeof openStepFunctionsWorld>>;

export const functionArn = (name: string): string => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`;

/** A Task that invokes a function with the whole input and passes on what it returns. */
export const invoke = (name: string, rest: object = { End: true }): object => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Parameters: { FunctionName: functionArn(name), 'Payload.$': '$' },
  ResultSelector: { 'value.$': '$.Payload' },
  OutputPath: '$.value',
  ...rest,
});

/** A Task that hands its token to a function and waits. */
export const awaitToken = (name: string, rest: object = { End: true }): object => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
  Parameters: { FunctionName: functionArn(name), Payload: { 'token.$': '$$.Task.Token', 'input.$': '$' } },
  ...rest,
});

/** Lambda's wire protocol over closures of the test; what one throws is the function's error. */
function lambdaFrom(handlers: Record<string, Handler>): Service {
  const nameIn = (path: string): string =>
    decodeURIComponent(path.split('/')[3] ?? '').replace(/^.*:function:/, '');
  return {
    scope: 'lambda',
    protocol: 'rest-json',
    access: ({ path }) => [{ action: 'lambda:InvokeFunction', resource: functionArn(nameIn(path)) }],
    handle: async ({ path, body }) => {
      const handler = handlers[nameIn(path)];
      if (!handler)
        throw new AwsError(
          'ResourceNotFoundException',
          `Function not found: ${functionArn(nameIn(path))}`,
          404,
        );
      const headers = { 'content-type': 'application/json', 'x-amz-executed-version': '$LATEST' };
      try {
        const result = await handler(JSON.parse(body.toString()) as never);
        return { status: 200, headers, body: JSON.stringify(result ?? null) };
      } catch (error) {
        if (error instanceof AwsError) throw error;
        const { name, message } = error as Error;
        const failure = JSON.stringify({ errorType: name, errorMessage: message });
        return { status: 200, headers: { ...headers, 'x-amz-function-error': 'Unhandled' }, body: failure };
      }
    },
  };
}

/** An error by this name, as a function would throw it. */
export function errorNamed(name: string, message = name): Error {
  return Object.assign(new Error(message), { name });
}
