import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { buildSync } from 'esbuild';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EVENTS, type Reactor } from '../../functions/events.ts';
import { ROOT } from '../../lib/bundle.ts';
import { StreamConsumer } from '../../lib/stream-consumer.ts';
import { ofType, type Resource, shortName, synthesizedApp } from './synthesized.ts';

const { platform } = synthesizedApp();

/** Lambda takes this much of all variables together. */
const ENVIRONMENT_CHARACTERS_MAX = 4096;

const functionNamed = (name: string): Resource => {
  const [, found] =
    ofType(platform, 'AWS::Lambda::Function').find(
      ([, { Properties }]) => shortName(Properties.FunctionName) === name,
    ) ?? [];
  if (!found) throw new Error(`There is no function ${name}.`);
  return found;
};

const reactors = [...new Set(EVENTS.flatMap(([, , to]) => to as readonly Reactor[]))].sort();
const typesOf = (domain: Reactor) =>
  EVENTS.filter(([, , to]) => (to as readonly Reactor[]).includes(domain)).map(([{ type }]) => type);

/** The queue a function reads. */
function queueOf(domain: Reactor): string {
  const fn = functionNamed(`${domain}-react-to-events`);
  const [, mapping] =
    ofType(platform, 'AWS::Lambda::EventSourceMapping').find(
      ([, { Properties }]) => platform[Properties.FunctionName.Ref] === fn,
    ) ?? [];
  return mapping?.Properties.EventSourceArn['Fn::GetAtt'][0] as string;
}

/** Text with references, each by the name of what it refers to. */
function rendered(value: { 'Fn::Join': [string, (string | { Ref: string })[]] }): string {
  const [between, parts] = value['Fn::Join'];
  return parts.map((part) => (typeof part === 'string' ? part : part.Ref)).join(between);
}

interface Statement {
  Action: string | string[];
  Condition?: Record<string, Record<string, string[]>>;
}

const partitionsOf = ({ Condition }: Statement) =>
  Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? [];

describe('what the event catalogue says of reactions', () => {
  test.each(['events-dispatch-events', 'events-sweep-outbox'])('%s goes by', (name) => {
    const { Variables } = functionNamed(name).Properties.Environment;
    const text = rendered(Variables.REACTION_QUEUES);
    expect(JSON.stringify(Variables).length).toBeLessThan(ENVIRONMENT_CHARACTERS_MAX);
    const queues = JSON.parse(text) as { url: string; types: string[] }[];
    expect(queues.toSorted((a, b) => (a.url < b.url ? -1 : 1))).toEqual(
      reactors
        .map((domain) => ({ url: queueOf(domain), types: typesOf(domain) }))
        .sort((a, b) => (a.url < b.url ? -1 : 1)),
    );
  });

  test('wakes the dispatcher, and nothing else does', () => {
    const dispatcher = functionNamed('events-dispatch-events');
    const [pattern = ''] = ofType(platform, 'AWS::Lambda::EventSourceMapping')
      .filter(([, { Properties }]) => platform[Properties.FunctionName.Ref] === dispatcher)
      .map(([, { Properties }]) => Properties.FilterCriteria.Filters[0].Pattern as string);
    const { dynamodb } = JSON.parse(pattern) as {
      dynamodb: { NewImage: { event: { M: { type: { S: string[] } } } } };
    };
    expect(dynamodb.NewImage.event.M.type.S.toSorted()).toEqual(
      [...new Set(reactors.flatMap(typesOf))].sort(),
    );
  });

  test('gives each domain a queue that no other reads', () => {
    expect(new Set(reactors.map(queueOf)).size).toBe(reactors.length);
  });
});

describe('the relay', () => {
  const [, { Properties: policy }] = ofType(platform, 'AWS::IAM::Policy').find(([id]) =>
    id.startsWith('RelayEventsRoleDefaultPolicy'),
  ) as [string, Resource];
  const statements = policy.PolicyDocument.Statement as Statement[];

  test('may do what relaying needs, and nothing of what domains do about events', () => {
    const actions = new Set(
      statements.flatMap(({ Action }) => Action).filter((each) => !/^(xray|logs):/.test(each)),
    );
    expect([...actions].sort()).toEqual([
      'dynamodb:BatchGetItem',
      'dynamodb:DeleteItem',
      'dynamodb:DescribeStream',
      'dynamodb:GetRecords',
      'dynamodb:GetShardIterator',
      'dynamodb:ListStreams',
      'dynamodb:PutItem',
      'dynamodb:Query',
      'dynamodb:UpdateItem',
      'events:PutEvents',
      'execute-api:ManageConnections',
      // The queue that hears of records that grew too old.
      'sqs:GetQueueAttributes',
      'sqs:GetQueueUrl',
      'sqs:SendMessage',
    ]);
  });

  test('writes the feed, forgets connections that are gone, and touches no domain’s rows', () => {
    const writing = statements.filter(({ Action }) => /PutItem|UpdateItem|DeleteItem/.test(String(Action)));
    expect([...new Set(writing.flatMap(partitionsOf))].sort()).toEqual([
      'CONNECTION#*',
      'FEED#*',
      'FOLLOWER#*',
      'TOPIC#*',
    ]);
    expect([...new Set(statements.flatMap(partitionsOf))].sort()).toEqual([
      'CONNECTION#*',
      'FEED#*',
      'FOLLOWER#*',
      'OUTBOX#*',
      'SERVICE_ACCOUNT#*',
      'TOPIC#*',
      'USER#*',
    ]);
  });

  test('is made of its own files, the sockets’ and the kernel’s, and few of them', () => {
    const { metafile } = buildSync({
      absWorkingDir: ROOT,
      entryPoints: ['functions/events/relay-events.ts'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      write: false,
      metafile: true,
    });
    const files = Object.keys(metafile.inputs).filter((file) => file.startsWith('functions/'));
    const folders = files.map((file) => file.split('/')[1] ?? '');
    expect([...new Set(folders)].sort()).toEqual(['events', 'platform']);
    expect(folders.filter((folder) => folder !== 'platform').length).toBeLessThanOrEqual(20);
    expect(files.length).toBeLessThanOrEqual(50);
  });
});

test('a consumer of a stream says how many records it takes at once, gathered for how long, and how many batches beside each other', () => {
  const outdir = mkdtempSync(join(tmpdir(), 'gpuaas-consumer-'));
  onTestFinished(() => rmSync(outdir, { recursive: true }));
  const stack = new Stack(new App({ outdir }), 'Probe');
  new StreamConsumer(stack, 'Consumer', {
    entry: 'functions/events/relay-events.ts',
    description: 'Reads a stream.',
    table: new Table(stack, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      stream: StreamViewType.NEW_IMAGE,
    }),
    filters: [{ eventName: ['INSERT'] }],
    batchSize: 7,
    windowSeconds: 3,
    parallelization: 2,
  });
  Template.fromStack(stack).hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    BatchSize: 7,
    MaximumBatchingWindowInSeconds: 3,
    ParallelizationFactor: 2,
  });
});
