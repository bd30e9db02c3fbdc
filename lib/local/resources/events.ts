import { ACCOUNT, REGION, type PolicyDocument } from '../wire/aws.ts';
import { physicalName, type ResourceKind } from './kind.ts';
import { statementsOf } from './plan.ts';

const busArn = (name: string): string => `arn:aws:events:${REGION}:${ACCOUNT}:event-bus/${name}`;

/** Events can be put on it; no rule listens, as there are none here. */
export const eventBus: ResourceKind = {
  type: 'AWS::Events::EventBus',
  honoured: ['Name', 'Policy'],
  ignored: ['Description', 'DeadLetterConfig', 'KmsKeyIdentifier', 'LogConfig', 'Tags'],
  identify(resource) {
    const name = physicalName(resource, 'Name', 256);
    return { ref: name, attributes: { Arn: busArn(name), Name: name } };
  },
  plan(resource, plan) {
    const policy = resource.properties['Policy'] as PolicyDocument | undefined;
    if (policy !== undefined) plan.allowOn(busArn(resource.identity.ref), statementsOf(policy));
  },
};
