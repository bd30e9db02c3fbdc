import { Stack, Validations } from 'aws-cdk-lib';
import { flattenCfnReference } from 'cdk-nag/lib/utils/flatten-cfn-reference.js';
import type { IConstruct } from 'constructs';

/** Accepts a cdk-nag finding on a construct and all below it. The reason is for whoever audits the deployment. */
export function acknowledge(scope: IConstruct, rule: `AwsSolutions-${string}`, reason: string): void {
  Validations.of(scope).acknowledge({ id: rule, reason });
}

/** Accepts that the policy of a role names more than one resource. */
export function acknowledgeWide(role: IConstruct, resource: string, reason: string): void {
  // cdk-nag names the resource as the template does, and how a template names what stands in another stack is settled
  // only just before the validation.
  role.node.addValidation({
    validate: () => {
      const named = flattenCfnReference(Stack.of(role).resolve(resource));
      acknowledge(role, `AwsSolutions-IAM5[Resource::${named}]`, reason);
      return [];
    },
  });
}
