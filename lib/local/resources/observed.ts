import { ACCOUNT, REGION } from '../wire/aws.ts';
import { physicalName, type ResourceKind } from './kind.ts';

// What only watches the platform has nothing to do here: logs go to files, nobody is woken by an alarm.

function observed(type: string, identify: ResourceKind['identify']): ResourceKind {
  return { type, honoured: [], ignored: 'all', identify };
}

const logGroup = observed('AWS::Logs::LogGroup', (resource) => {
  const name = physicalName(resource, 'LogGroupName', 512);
  return { ref: name, attributes: { Arn: `arn:aws:logs:${REGION}:${ACCOUNT}:log-group:${name}:*` } };
});

const logResourcePolicy = observed('AWS::Logs::ResourcePolicy', (resource) => ({
  ref: physicalName(resource, 'PolicyName', 128),
}));

const metricFilter = observed('AWS::Logs::MetricFilter', (resource) => ({ ref: resource.logicalId }));

const alarm = observed('AWS::CloudWatch::Alarm', (resource) => {
  const name = physicalName(resource, 'AlarmName', 255);
  return { ref: name, attributes: { Arn: `arn:aws:cloudwatch:${REGION}:${ACCOUNT}:alarm:${name}` } };
});

const dashboard = observed('AWS::CloudWatch::Dashboard', (resource) => ({
  ref: physicalName(resource, 'DashboardName', 255),
}));

const topic = observed('AWS::SNS::Topic', (resource) => {
  const name = physicalName(resource, 'TopicName', 256);
  const arn = `arn:aws:sns:${REGION}:${ACCOUNT}:${name}`;
  return { ref: arn, attributes: { TopicArn: arn, TopicName: name } };
});

const subscription = observed('AWS::SNS::Subscription', (resource) => ({ ref: resource.logicalId }));
const topicPolicy = observed('AWS::SNS::TopicPolicy', (resource) => ({ ref: resource.logicalId }));
const metadata = observed('AWS::CDK::Metadata', (resource) => ({ ref: resource.logicalId }));

export const observedKinds = [
  logGroup,
  logResourcePolicy,
  metricFilter,
  alarm,
  dashboard,
  topic,
  subscription,
  topicPolicy,
  metadata,
];
