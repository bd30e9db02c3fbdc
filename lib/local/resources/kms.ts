import { ACCOUNT, REGION, type PolicyDocument } from '../wire/aws.ts';
import { fingerprintUuid, type ResourceKind } from './kind.ts';
import { statementsOf } from './plan.ts';

const keyArn = (id: string): string => `arn:aws:kms:${REGION}:${ACCOUNT}:key/${id}`;

export const key: ResourceKind = {
  type: 'AWS::KMS::Key',
  honoured: ['KeyPolicy', 'KeySpec', 'KeyUsage'],
  ignored: [
    'Description',
    'EnableKeyRotation',
    'RotationPeriodInDays',
    'Enabled',
    'PendingWindowInDays',
    'Tags',
  ],
  identify(resource) {
    const id = fingerprintUuid(`${resource.stack}/${resource.logicalId}`);
    return { ref: id, attributes: { Arn: keyArn(id), KeyId: id } };
  },
  create(resource, makers) {
    makers.createKey({
      id: resource.identity.ref,
      keySpec: (resource.properties['KeySpec'] as string | undefined) ?? 'SYMMETRIC_DEFAULT',
      keyUsage: (resource.properties['KeyUsage'] as string | undefined) ?? 'ENCRYPT_DECRYPT',
    });
  },
  plan(resource, plan) {
    const policy = resource.properties['KeyPolicy'] as PolicyDocument | undefined;
    if (policy !== undefined) plan.allowOn(keyArn(resource.identity.ref), statementsOf(policy));
  },
};

export const alias: ResourceKind = {
  type: 'AWS::KMS::Alias',
  honoured: ['AliasName', 'TargetKeyId'],
  ignored: [],
  identify: (resource) => ({ ref: resource.properties['AliasName'] as string }),
  create(resource, makers) {
    const target = resource.properties['TargetKeyId'] as string;
    makers.putAlias(resource.identity.ref, target.slice(target.lastIndexOf('/') + 1));
  },
};
