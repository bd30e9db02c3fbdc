// What is watched of each kind of construct. docs/runbooks/alarms.md says of each kind of alarm what to do.

import { Duration, Stack } from 'aws-cdk-lib';
import { HttpStage, WebSocketStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { type CfnTable, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import type { ProblemCode } from '../functions/problems.ts';
import { tables } from '../functions/routes.ts';
import { Api } from './api.ts';
import { Nodes } from './nodes.ts';
import { PlatformFunction } from './platform-function.ts';
import { Publishing } from './publishing.ts';
import { Relay } from './relay.ts';
import { StreamConsumer } from './stream-consumer.ts';
import { FailureQueue, WorkQueue } from './work-queue.ts';
import { Workflow } from './workflow.ts';

export interface Watch {
  /** The runbook has a section of this name. */
  kind: string;
  /** Which part of the construct, where several are watched in the same way. */
  part?: string;
  metric: IMetric;
  /** The alarm is raised at the first of what it counts, unless it names a level here. */
  above?: number;
  meaning: string;
}

const PERIOD = { period: Duration.minutes(5) };
const LATE = Duration.minutes(5);
/** DynamoDB has an error now and then, and the client tries again. */
const SYSTEM_ERRORS_MAX = 10;
/** One a second. Fewer are normal: whoever lost decides again. */
const CONFLICTS_MAX = 300;

/** What is counted together for everything, also for what is not deployed yet. */
export const ACCOUNT_WATCHES: Watch[] = [
  {
    kind: 'Throttled',
    metric: LambdaFunction.metricAllThrottles(PERIOD),
    meaning:
      'Lambda refused to run a function: the concurrency of the account or of the function is used up.',
  },
  {
    kind: 'SystemErrors',
    metric: new MathExpression({
      ...PERIOD,
      expression: 'SELECT SUM(SystemErrors) FROM SCHEMA("AWS/DynamoDB", Operation, TableName)',
    }),
    above: SYSTEM_ERRORS_MAX,
    meaning: 'DynamoDB answers with errors of its own.',
  },
  {
    kind: 'Waiting',
    metric: counted('waiting_seconds', {}, 'Maximum'),
    above: LATE.toSeconds(),
    meaning: 'Messages have been waiting for minutes for the end of an outage.',
  },
  {
    kind: 'Unrepaired',
    metric: counted('unrepaired'),
    meaning: 'A sweep could not repair something, and left it unchanged.',
  },
];

export function watchesOf(construct: IConstruct): Watch[] {
  if (construct instanceof Api) return watchApi(construct);
  if (construct instanceof HttpStage) return [watchHttpStage(construct)];
  if (construct instanceof WebSocketStage) return [watchSocketStage(construct)];
  if (construct instanceof Table) return watchTable(construct);
  if (construct instanceof Nodes) return NODES_WATCHES;
  if (construct instanceof Publishing) return PUBLISHING_WATCHES;
  if (construct instanceof Relay) return RELAY_WATCHES;
  if (construct instanceof WorkQueue) return [watchWork(construct)];
  if (construct instanceof FailureQueue) return [watchFailures(construct)];
  if (construct instanceof Workflow) return watchWorkflow(construct);
  if (construct instanceof StreamConsumer) return [watchErrors(construct), watchReader(construct)];
  if (construct instanceof PlatformFunction) return [watchErrors(construct)];
  return [];
}

// A function that answers with an error has not failed for Lambda. So requests are watched twice: in the function,
// which says which domain failed, and in the gateway, which also sees a function that it could not run.
function watchApi(api: Api): Watch[] {
  const domains = [...Object.keys(tables), 'unrouted'].map((domain) => ({
    kind: 'Failing',
    part: domain,
    metric: counted('failed', { domain }),
    meaning: `Requests to the domain ${domain} were answered with 5xx.`,
  }));
  const throttled = {
    kind: 'GatewayThrottled',
    metric: api.throttled.with(PERIOD),
    meaning: 'The gateway refused requests with 429: together, callers send more than the stage accepts.',
  };
  return [...domains, throttled];
}

const watchHttpStage = (stage: HttpStage): Watch => ({
  kind: 'ServerErrors',
  metric: stage.metricServerError({ ...PERIOD, statistic: 'Sum' }),
  meaning: 'Callers of the API got 5xx, from a function or because the gateway could not run it.',
});

const watchSocketStage = (stage: WebSocketStage): Watch => ({
  kind: 'SocketErrors',
  metric: stage.metric('ExecutionError', { ...PERIOD, statistic: 'Sum' }),
  meaning: 'The WebSocket gateway could not run a function.',
});

function watchTable(table: Table): Watch[] {
  const { globalSecondaryIndexes } = table.node.defaultChild as CfnTable;
  const indexes = Stack.of(table).resolve(globalSecondaryIndexes) as { indexName: string }[] | undefined;
  const places = [{}, ...(indexes ?? []).map(({ indexName }) => ({ GlobalSecondaryIndexName: indexName }))];
  const throttled = places.flatMap((place) =>
    (['Read', 'Write'] as const).map((verb) => ({
      kind: 'TableThrottled',
      part: [...Object.values(place), verb].join(''),
      metric: ofTable(table, `${verb}ThrottleEvents`, place),
      meaning: 'DynamoDB throttled a table or its index: a partition is too hot, or the traffic has doubled.',
    })),
  );
  const conflicts = {
    kind: 'Conflicts',
    metric: ofTable(table, 'TransactionConflict'),
    above: CONFLICTS_MAX,
    meaning: 'Transactions keep meeting on the same items; callers may get request.conflict.',
  };
  return [...throttled, conflicts];
}

const ofTable = ({ tableName }: Table, metricName: string, more: Record<string, string> = {}): Metric =>
  new Metric({
    ...PERIOD,
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: tableName, ...more },
    statistic: 'Sum',
  });

const PUBLISHING_WATCHES: Watch[] = [
  {
    kind: 'UnwrappedTwice',
    metric: writtenRefusals('intent.unwrapped'),
    meaning:
      'There was a second attempt to unwrap a publish credential: somebody else may have unwrapped it first.',
  },
  {
    kind: 'WrongToken',
    metric: writtenRefusals('intent.wrong_token'),
    meaning: 'Somebody tried to unwrap a publish credential without its token.',
  },
];

const NODES_WATCHES: Watch[] = [
  {
    kind: 'KeyCloned',
    metric: writtenRefusals('node.key_cloned'),
    meaning: 'Two agents speak with the key of one node: a host was copied, or its key was stolen.',
  },
  {
    kind: 'KeyTaken',
    metric: writtenRefusals('node.key_taken'),
    meaning: 'A host tried to join with the key of another node: it was copied, or the key was stolen.',
  },
  {
    kind: 'JoinedTwice',
    metric: writtenRefusals('join_token.used'),
    meaning: 'A join token was shown again, with another key: somebody else may have joined with it first.',
  },
  {
    kind: 'JoinedLate',
    metric: writtenRefusals('join_token.expired'),
    meaning: 'A join token was shown after it had expired.',
  },
  {
    kind: 'ForeignNode',
    metric: writtenRefusals('node.unknown'),
    meaning: 'A node asked for what belongs to another: its key was stolen, or somebody else runs on it.',
  },
  {
    kind: 'ForeignTask',
    metric: writtenRefusals('task.unknown'),
    meaning: 'A node answered a task of another node: its key was stolen, or somebody else runs on it.',
  },
  {
    kind: 'PullRefused',
    metric: writtenRefusals('pull.not_assigned'),
    meaning: 'A node asked to pull from repositories that nothing assigned to it comes from.',
  },
  {
    kind: 'SecretFetchedTwice',
    metric: writtenRefusals('secret.fetched'),
    meaning: 'A secret was asked for a second time: somebody else may have fetched it first.',
  },
  {
    kind: 'ForeignSecret',
    metric: writtenRefusals('secret.unknown'),
    meaning: 'A node asked for a secret of another node, whose handle it should not know.',
  },
];

const RELAY_WATCHES: Watch[] = [
  {
    kind: 'OffBus',
    metric: counted('events_off_bus'),
    meaning:
      'Events are waiting for the bus: it is unavailable, or the relay lacks permission to put events on it.',
  },
  {
    kind: 'Missed',
    metric: counted('events_missed'),
    meaning: 'Events were not relayed or dispatched within fifteen minutes; the sweep does it now.',
  },
];

const watchWork = ({ queue }: WorkQueue): Watch => ({
  kind: 'Late',
  metric: queue.metricApproximateAgeOfOldestMessage({ ...PERIOD, statistic: 'Maximum' }),
  above: LATE.toSeconds(),
  meaning: 'A message has been waiting for minutes: nothing reads the queue, or too slowly.',
});

const watchFailures = (queue: FailureQueue): Watch => ({
  kind: 'NotEmpty',
  metric: queue.metricApproximateNumberOfMessagesVisible({ ...PERIOD, statistic: 'Maximum' }),
  meaning: 'Messages failed for good and are waiting for a person to look at them.',
});

const watchWorkflow = (workflow: Workflow): Watch[] => [
  { kind: 'Failed', metric: workflow.metricFailed(PERIOD), meaning: 'An execution ended in failure.' },
  { kind: 'TimedOut', metric: workflow.metricTimedOut(PERIOD), meaning: 'An execution ran out of time.' },
];

const watchErrors = (fn: PlatformFunction): Watch => ({
  kind: 'Errors',
  metric: fn.metricErrors(PERIOD),
  meaning: 'A function threw, crashed or timed out.',
});

const watchReader = (fn: StreamConsumer): Watch => ({
  kind: 'Late',
  metric: fn.metric('IteratorAge', { ...PERIOD, statistic: 'Maximum' }),
  above: LATE.toMilliseconds(),
  meaning: 'A reader of the stream is minutes behind; records expire after a day.',
});

function writtenRefusals(code: ProblemCode): Metric {
  return counted('written_refusals', { code });
}

/** As functions/platform/metrics.ts counts it. */
function counted(metricName: string, dimensionsMap: Record<string, string> = {}, statistic = 'Sum'): Metric {
  return new Metric({ ...PERIOD, namespace: 'Gpuaas', metricName, dimensionsMap, statistic });
}
