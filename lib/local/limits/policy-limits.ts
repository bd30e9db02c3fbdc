import type { Deployed, Resource } from './deployed.ts';
import { bytes, count, type Limit } from './limit.ts';

const IAM = 'https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html';

const ROLE = 'AWS::IAM::Role';
const INLINE_MAX = 10_240;
const TRUST_MAX = 2_048;
const MANAGED_MAX = 10;

/** Types with a policy of their own, and how long it may be. */
const POLICIES: Record<string, { property: string; max: number; source: string }> = {
  'AWS::IAM::ManagedPolicy': { property: 'PolicyDocument', max: 6_144, source: IAM },
  'AWS::KMS::Key': {
    property: 'KeyPolicy',
    max: 32 * 1024,
    source: 'https://docs.aws.amazon.com/kms/latest/developerguide/resource-limits.html',
  },
  'AWS::S3::BucketPolicy': {
    property: 'PolicyDocument',
    max: 20 * 1024,
    source: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/add-bucket-policy.html',
  },
  'AWS::SNS::TopicPolicy': {
    property: 'PolicyDocument',
    max: 30 * 1024,
    source: 'https://docs.aws.amazon.com/sns/latest/api/API_SetTopicAttributes.html',
  },
  'AWS::SQS::QueuePolicy': {
    property: 'PolicyDocument',
    max: 8 * 1024,
    source: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html',
  },
  'AWS::Logs::ResourcePolicy': {
    property: 'PolicyDocument',
    max: 5_120,
    source: 'https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutResourcePolicy.html',
  },
};

/** IAM does not count white space. */
const lengthOf = (document: unknown): number =>
  bytes((typeof document === 'string' ? document : JSON.stringify(document)).replaceAll(/\s/g, ''));

const inlinePolicies: Limit = {
  name: 'policies of a role',
  source: IAM,
  check: (deployed) =>
    deployed.ofType(ROLE).flatMap((role) => {
      const length = inlineDocuments(deployed, role).reduce<number>((sum, each) => sum + lengthOf(each), 0);
      if (length <= INLINE_MAX) return [];
      return [
        `${role.name}: its inline policies have ${count(length)} characters; together a role’s have at most ${count(INLINE_MAX)}. ` +
          'Grant fewer resources by name, or split what runs as it.',
      ];
    }),
};

const trustPolicies: Limit = {
  name: 'trust policy of a role',
  source: IAM,
  check: (deployed) =>
    deployed.ofType(ROLE).flatMap(({ name, properties }) => {
      const length = lengthOf(properties['AssumeRolePolicyDocument'] ?? {});
      if (length <= TRUST_MAX) return [];
      return [
        `${name}: its trust policy has ${count(length)} characters; at most ${count(TRUST_MAX)} are taken.`,
      ];
    }),
};

const managedPolicies: Limit = {
  name: 'managed policies of a role',
  source: IAM,
  check: (deployed) =>
    deployed.ofType(ROLE).flatMap((role) => {
      const attached =
        (role.properties['ManagedPolicyArns'] ?? []).length +
        deployed.ofType('AWS::IAM::ManagedPolicy').filter((policy) => isOn(deployed, policy, role)).length;
      if (attached <= MANAGED_MAX) return [];
      return [
        `${role.name}: it has ${attached} managed policies; a role has ${MANAGED_MAX}, unless AWS raises it.`,
      ];
    }),
};

/** IAM takes nothing beyond Latin-1, in a description either. */
const characters: Limit = {
  name: 'characters of IAM',
  source: IAM,
  check: (deployed) =>
    deployed.resources
      .filter(({ type }) => type.startsWith('AWS::IAM::'))
      .flatMap(({ name, properties }) => {
        const odd = /[^\t\n\r\u0020-\u00FF]/u.exec(JSON.stringify(properties))?.[0];
        return odd === undefined ? [] : [`${name}: IAM does not take the character ${odd}. Use another.`];
      }),
};

const resourcePolicies: Limit[] = Object.entries(POLICIES).map(([type, { property, max, source }]) => ({
  name: `policy of ${type}`,
  source,
  check: (deployed) =>
    deployed.ofType(type).flatMap(({ name, properties }) => {
      const length = lengthOf(properties[property] ?? {});
      if (length <= max) return [];
      return [`${name}: its policy has ${count(length)} characters; at most ${count(max)} are taken.`];
    }),
}));

function inlineDocuments(deployed: Deployed, role: Resource): unknown[] {
  const own: { PolicyDocument: unknown }[] = role.properties['Policies'] ?? [];
  return [
    ...own.map(({ PolicyDocument }) => PolicyDocument),
    ...['AWS::IAM::Policy', 'AWS::IAM::RolePolicy']
      .flatMap((type) => deployed.ofType(type))
      .filter((policy) => isOn(deployed, policy, role))
      .map(({ properties }) => properties['PolicyDocument']),
  ];
}

function isOn(deployed: Deployed, { properties }: Resource, role: Resource): boolean {
  const roles: unknown[] = properties['Roles'] ?? [properties['RoleName']];
  return roles.some((each) => deployed.named(each) === role);
}

export const policyLimits = [inlinePolicies, trustPolicies, managedPolicies, characters, ...resourcePolicies];
