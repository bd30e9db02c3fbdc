import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct, type IConstruct } from 'constructs';
import type { ProblemCode } from '../functions/problems.ts';
import { configOf } from './config.ts';
import { PlatformFunction } from './platform-function.ts';
import { Publishing } from './publishing.ts';
import { Relay } from './relay.ts';
import { StreamConsumer } from './stream-consumer.ts';
import { FailureQueue } from './work-queue.ts';
import { Workflow } from './workflow.ts';

const ITERATOR_AGE = Duration.minutes(5);

interface Watch {
  metric: IMetric;
  above: number;
  meaning: string;
}

/** Watches everything in the stack that can fail unseen, so that no construct can forget its alarm. */
export class Alarms extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const topic = new Topic(this, 'Topic', { displayName: 'GPUaaS platform alarms', enforceSSL: true });
    // A topic policy of our own replaces the one that lets alarms of this account in.
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    const { alarmEmail } = configOf(this);
    if (alarmEmail) topic.addSubscription(new EmailSubscription(alarmEmail));

    for (const construct of Stack.of(this).node.findAll()) {
      for (const [kind, watch] of Object.entries(watchesOf(construct))) {
        const name = construct.node.path.split('/').slice(1).join('');
        const alarm = new Alarm(this, `${name}${kind}`, {
          alarmDescription: watch.meaning,
          metric: watch.metric,
          threshold: watch.above,
          comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
          evaluationPeriods: 1,
          treatMissingData: TreatMissingData.NOT_BREACHING,
        });
        alarm.addAlarmAction(new SnsAction(topic));
      }
    }
  }
}

const PERIOD = { period: Duration.minutes(5) };

function watchesOf(construct: IConstruct): Record<string, Watch> {
  if (construct instanceof Publishing) {
    return {
      UnwrappedTwice: {
        metric: writtenRefusals('intent.unwrapped'),
        above: 0,
        meaning:
          'There was a second attempt to unwrap a publish credential: somebody else may have unwrapped it first.',
      },
      WrongToken: {
        metric: writtenRefusals('intent.wrong_token'),
        above: 0,
        meaning: 'Somebody tried to unwrap a publish credential without its token.',
      },
    };
  }
  if (construct instanceof Relay) {
    return {
      OffBus: {
        metric: counted('events_off_bus'),
        above: 0,
        meaning:
          'Events are waiting for the bus: it is unavailable, or the relay lacks permission to put events on it.',
      },
    };
  }
  if (construct instanceof FailureQueue) {
    return {
      NotEmpty: {
        metric: construct.metricApproximateNumberOfMessagesVisible({ ...PERIOD, statistic: 'Maximum' }),
        above: 0,
        meaning: 'Messages failed for good and are waiting for a person to look at them.',
      },
    };
  }
  if (construct instanceof Workflow) {
    return {
      Failed: { metric: construct.metricFailed(PERIOD), above: 0, meaning: 'An execution ended in failure.' },
      TimedOut: {
        metric: construct.metricTimedOut(PERIOD),
        above: 0,
        meaning: 'An execution ran out of time.',
      },
    };
  }
  if (construct instanceof PlatformFunction) {
    return {
      Errors: {
        metric: construct.metricErrors(PERIOD),
        above: 0,
        meaning: 'A function threw, crashed or timed out.',
      },
      ...(construct instanceof StreamConsumer && {
        Late: {
          metric: construct.metric('IteratorAge', { ...PERIOD, statistic: 'Maximum' }),
          above: ITERATOR_AGE.toMilliseconds(),
          meaning: 'A stream consumer is minutes behind; records expire after a day.',
        },
      }),
    };
  }
  return {};
}

const writtenRefusals = (code: ProblemCode): Metric => counted('written_refusals', { code });

/** As functions/platform/metrics.ts counts it. */
function counted(metricName: string, dimensionsMap?: Record<string, string>): Metric {
  return new Metric({ ...PERIOD, namespace: 'Gpuaas', metricName, dimensionsMap, statistic: 'Sum' });
}
