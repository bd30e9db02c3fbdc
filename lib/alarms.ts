import { Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { configOf } from './config.ts';
import { ACCOUNT_WATCHES, type Watch, watchesOf } from './watches.ts';

const RUNBOOK = 'docs/runbooks/alarms.md';

/**
 * Watches everything in the app that can fail unseen, so that no construct can forget its alarm. AWS charges for each
 * metric that an alarm reads, so to join several in one alarm would save nothing and tell less.
 */
export class Alarms extends Construct {
  private readonly action: SnsAction;

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
    this.action = new SnsAction(topic);

    for (const watch of ACCOUNT_WATCHES) this.raise('Account', watch);
    for (const construct of this.node.root.node.findAll())
      for (const watch of watchesOf(construct)) this.raise(construct.node.path.replaceAll('/', ''), watch);
  }

  private raise(name: string, { kind, part = '', metric, above = 0, meaning }: Watch): void {
    const alarm = new Alarm(this, `${name}${part}${kind}`, {
      alarmDescription: `${meaning} Runbook: ${RUNBOOK}, ${kind}.`,
      metric,
      threshold: above,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(this.action);
  }
}
