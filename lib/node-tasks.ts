import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ARTIFACT_PARTITIONS, CONTENT_PARTITIONS, TRUST_PARTITION } from '../functions/artifacts/keys.ts';
import { OPEN_TASKS, SECRET_PARTITIONS, TASK_PARTITIONS } from '../functions/nodes/keys.ts';
import { REPOSITORY_PARTITION } from '../functions/storage/keys.ts';
import { configOf } from './config.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import type { PlatformFunction } from './platform-function.ts';
import { ScheduledFunction } from './scheduled-function.ts';

export interface NodeTasksProps {
  kernel: Kernel;
  api: PlatformFunction;
  reactions: PlatformFunction;
  /** The right to find the queues of nodes and to send to them. */
  grantSend: (fn: PlatformFunction) => void;
}

/** What the functions of nodes need for tasks, credentials, secrets and trust, and the sweep of tasks. */
export function addNodeTasks(scope: Construct, { kernel, api, reactions, grantSend }: NodeTasksProps): void {
  const { control } = kernel;
  grantItems(api, control, {
    actions: ['BatchGetItem', 'PutItem', 'UpdateItem'],
    partitions: [TASK_PARTITIONS],
  });
  grantItems(api, control, { actions: ['GetItem', 'UpdateItem'], partitions: [SECRET_PARTITIONS] });
  // Whose image it is, whether it is verified, and whether it was revoked.
  grantItems(api, control, {
    actions: ['BatchGetItem'],
    partitions: [REPOSITORY_PARTITION, CONTENT_PARTITIONS, ARTIFACT_PARTITIONS],
  });
  grantItems(api, control, { actions: ['Query'], partitions: [TRUST_PARTITION] });
  api.addEnvironment('ROOT_WITHOUT_REMAP', configOf(scope).rootWithoutRemap);

  const sweep = new ScheduledFunction(scope, 'SweepTasks', {
    entry: 'functions/nodes/sweep-tasks.ts',
    description: 'Ends tasks that no host has answered in time, and sends those whose event was missed.',
    every: Duration.minutes(1),
    timeoutSeconds: 60,
    environment: { CONTROL_TABLE: control.tableName },
  });
  grantItems(sweep, control, { actions: ['Query'], partitions: [OPEN_TASKS], index: 'gsi1' });
  kernel.grantTell(sweep);

  for (const fn of [reactions, sweep]) {
    grantItems(fn, control, { actions: ['GetItem', 'UpdateItem'], partitions: [TASK_PARTITIONS] });
    grantItems(fn, control, { actions: ['GetItem'], partitions: [TRUST_PARTITION] });
    grantSend(fn);
  }
}
