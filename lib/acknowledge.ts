import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Accepts a cdk-nag finding on a construct and all below it. The reason is for whoever audits the deployment. */
export function acknowledge(scope: IConstruct, rule: `AwsSolutions-${string}`, reason: string): void {
  Validations.of(scope).acknowledge({ id: rule, reason });
}
