import { ACCOUNT, type PolicyDocument } from '../wire/aws.ts';
import { physicalName, type ResourceKind } from './kind.ts';

const roleArn = (name: string): string => `arn:aws:iam::${ACCOUNT}:role/${name}`;

export const role: ResourceKind = {
  type: 'AWS::IAM::Role',
  honoured: ['RoleName', 'AssumeRolePolicyDocument', 'Policies', 'ManagedPolicyArns'],
  ignored: ['Description', 'MaxSessionDuration', 'Path', 'Tags'],
  identify(resource) {
    const name = physicalName(resource, 'RoleName', 64);
    return { ref: name, attributes: { Arn: roleArn(name), RoleId: name } };
  },
  plan(resource, plan) {
    const managed = (resource.properties['ManagedPolicyArns'] as string[] | undefined) ?? [];
    if (managed.length > 0) {
      throw new Error(
        `${resource.stack}/${resource.logicalId} takes its rights from ${managed.join(', ')}. ` +
          'The local engine evaluates what the template says; write the statements into the role.',
      );
    }
    const inline =
      (resource.properties['Policies'] as { PolicyDocument: PolicyDocument }[] | undefined) ?? [];
    const arn = roleArn(resource.identity.ref);
    plan.roles.set(arn, {
      arn,
      trust: resource.properties['AssumeRolePolicyDocument'] as PolicyDocument,
      policies: inline.map((policy) => policy.PolicyDocument),
    });
  },
};

export const policy: ResourceKind = {
  type: 'AWS::IAM::Policy',
  honoured: ['PolicyDocument', 'Roles'],
  ignored: ['PolicyName'],
  identify: (resource) => ({ ref: physicalName(resource, 'PolicyName', 128) }),
  plan(resource, plan) {
    for (const name of (resource.properties['Roles'] as string[] | undefined) ?? []) {
      const holder = plan.roles.get(roleArn(name));
      if (holder === undefined)
        throw new Error(
          `${resource.stack}/${resource.logicalId} is attached to the role ${name}, which is not in the template.`,
        );
      holder.policies.push(resource.properties['PolicyDocument'] as PolicyDocument);
    }
  },
};
