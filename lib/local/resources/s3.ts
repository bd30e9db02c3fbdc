import {
  CreateBucketCommand,
  HeadBucketCommand,
  PutBucketVersioningCommand,
  type VersioningConfiguration,
} from '@aws-sdk/client-s3';
import type { PolicyDocument } from '../wire/aws.ts';
import type { Declared } from '../template/template.ts';
import { fingerprint, physicalName, type ResourceKind } from './kind.ts';
import { statementsOf } from './plan.ts';

function bucketName(resource: Omit<Declared, 'identity'>): string {
  const name = physicalName(resource, 'BucketName', 63);
  if (name === name.toLowerCase()) return name;
  return `${name.toLowerCase().slice(0, 54)}-${fingerprint(name).slice(0, 8)}`;
}

export const bucket: ResourceKind = {
  type: 'AWS::S3::Bucket',
  honoured: ['BucketName', 'VersioningConfiguration'],
  ignored: [
    'AccessControl',
    'BucketEncryption',
    'CorsConfiguration',
    'LifecycleConfiguration',
    'LoggingConfiguration',
    'OwnershipControls',
    'PublicAccessBlockConfiguration',
    'Tags',
  ],
  identify(resource) {
    const name = bucketName(resource);
    return { ref: name, attributes: { Arn: `arn:aws:s3:::${name}` } };
  },
  async create(resource, { s3 }) {
    const Bucket = resource.identity.ref;
    try {
      await s3.send(new HeadBucketCommand({ Bucket }));
    } catch (error) {
      if ((error as Error).name !== 'NotFound') throw error;
      await s3.send(new CreateBucketCommand({ Bucket }));
    }
    const VersioningConfiguration = resource.properties['VersioningConfiguration'] as
      VersioningConfiguration | undefined;
    if (VersioningConfiguration)
      await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
  },
};

export const bucketPolicy: ResourceKind = {
  type: 'AWS::S3::BucketPolicy',
  honoured: ['Bucket', 'PolicyDocument'],
  ignored: [],
  identify: (resource) => ({ ref: resource.logicalId }),
  plan(resource, plan) {
    plan.allowOn(
      `arn:aws:s3:::${resource.properties['Bucket'] as string}`,
      statementsOf(resource.properties['PolicyDocument'] as PolicyDocument),
    );
  },
};
