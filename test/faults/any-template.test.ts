import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, DefaultStackSynthesizer, Duration, Stack } from 'aws-cdk-lib';
import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Code, Function, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCopy, type PlatformCopy } from '../e2e/platform-copy.ts';

const folder = mkdtempSync(join(tmpdir(), 'gpuaas-any-'));
const assembly = join(folder, 'assembly');
let copy: PlatformCopy | undefined;

const HANDLER = `
import { DynamoDBClient, PutItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { SQSClient, SendMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
const dynamodb = new DynamoDBClient({}), sqs = new SQSClient({});
export const handler = async (event) => {
  const Key = { id: { S: event.pathParameters.id } };
  await dynamodb.send(new PutItemCommand({ TableName: process.env.TABLE, Item: { ...Key, note: { S: event.body } } }));
  await sqs.send(new SendMessageCommand({ QueueUrl: process.env.QUEUE, MessageBody: event.pathParameters.id }));
  const { Item } = await dynamodb.send(new GetItemCommand({ TableName: process.env.TABLE, Key }));
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: process.env.QUEUE }));
  return { note: Item.note.S, message: Messages[0].Body };
};`;

/** What somebody would write in lib/, and nothing anywhere else: of what the platform is made of, this has nothing. */
function addNotes(stack: Stack): void {
  const code = join(folder, 'code');
  mkdirSync(code);
  buildSync({
    stdin: { contents: HANDLER, resolveDir: import.meta.dirname },
    outfile: join(code, 'index.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    mainFields: ['module', 'main'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const table = new Table(stack, 'Notes', {
    partitionKey: { name: 'id', type: AttributeType.STRING },
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  });
  const queue = new Queue(stack, 'NotesQueue');
  const role = new Role(stack, 'NotesRole', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  role.addToPolicy(
    new PolicyStatement({ actions: ['dynamodb:PutItem', 'dynamodb:GetItem'], resources: [table.tableArn] }),
  );
  role.addToPolicy(
    new PolicyStatement({ actions: ['sqs:SendMessage', 'sqs:ReceiveMessage'], resources: [queue.queueArn] }),
  );
  const notes = new Function(stack, 'NotesFunction', {
    runtime: Runtime.NODEJS_24_X,
    code: Code.fromAsset(code),
    handler: 'index.handler',
    role,
    timeout: Duration.seconds(20),
    environment: { TABLE: table.tableName, QUEUE: queue.queueUrl },
  });
  new HttpApi(stack, 'Api').addRoutes({
    path: '/notes/{id}',
    methods: [HttpMethod.PUT],
    integration: new HttpLambdaIntegration('Notes', notes),
  });
}

beforeAll(async () => {
  const app = new App({
    outdir: assembly,
    analyticsReporting: false,
    treeMetadata: false,
    defaultStackSynthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
  });
  addNotes(new Stack(app, 'Notes'));
  app.synth();
  copy = await startCopy({ dataDir: join(folder, 'data'), assembly });
});

afterAll(async () => {
  await copy?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a table, a queue and a route that the engine has never heard of are served as CDK declares them', async () => {
  const response = await fetch(`${copy?.ready.api_url}/notes/7`, {
    method: 'PUT',
    body: 'remember',
    headers: { 'content-type': 'text/plain' },
  });
  expect(await response.json()).toEqual({ note: 'remember', message: '7' });
});
