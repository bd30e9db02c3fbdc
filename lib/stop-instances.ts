import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { ARTIFACT_PARTITIONS, CONTENT_PARTITIONS } from '../functions/artifacts/keys.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import type { Reactions } from './reactions.ts';
import { Workflow } from './workflow.ts';

export interface StopInstancesProps {
  kernel: Kernel;
  /** What artifacts do about events: they start the workflow. */
  reactions: Reactions;
}

/** Asks everything that runs a revoked artifact to stop, however much it is. */
export class StopInstances extends Construct {
  constructor(scope: Construct, id: string, { kernel, reactions }: StopInstancesProps) {
    super(scope, id);
    const step = new PlatformFunction(this, 'Step', {
      entry: 'functions/artifacts/stop-instances.ts',
      description: 'Asks instances that run a revoked artifact to stop, as many as it has time for.',
      // It works for 20 seconds and then ends the page it has begun.
      timeoutSeconds: 60,
      environment: { CONTROL_TABLE: kernel.control.tableName },
    });
    grantItems(step, kernel.control, { actions: ['GetItem'], partitions: [ARTIFACT_PARTITIONS] });
    grantItems(step, kernel.control, {
      actions: ['Query', 'BatchGetItem', 'UpdateItem'],
      partitions: [CONTENT_PARTITIONS],
    });
    kernel.grantTell(step);
    const workflow = new Workflow(this, 'Run', { name: 'stop-instances', tasks: { StopInstances: step } });

    reactions.addEnvironment('STOP_INSTANCES_MACHINE_ARN', workflow.stateMachineArn);
    reactions.addToRolePolicy(
      new PolicyStatement({
        actions: ['states:StartExecution'],
        resources: [workflow.stateMachineArn],
      }),
    );
  }
}
