import { Duration } from 'aws-cdk-lib';
import { ArnPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { ARTIFACT_PARTITIONS, CONTENT_PARTITIONS, TRUST_PARTITION } from '../functions/artifacts/keys.ts';
import { NODE_PARTITIONS } from '../functions/nodes/keys.ts';
import { REPOSITORY_PARTITION } from '../functions/storage/keys.ts';
import { OPEN_TASKS, SECRET_PARTITIONS, TASK_PARTITIONS } from '../functions/tasks/keys.ts';
import { acknowledgeWide } from './acknowledge.ts';
import { appRepositoriesArn, registryLogin } from './app-repositories.ts';
import { configOf } from './config.ts';
import type { DataStack } from './data-stack.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import type { Nodes } from './nodes.ts';
import { PlatformFunction } from './platform-function.ts';
import { Reactions } from './reactions.ts';
import { ScheduledFunction } from './scheduled-function.ts';
import { ANY_RESOURCE, PREFIXES } from './wildcards.ts';

export interface TasksProps {
  kernel: Kernel;
  data: Pick<DataStack, 'hostKey' | 'registryHost'>;
  /** Whose queues the tasks go into. */
  nodes: Nodes;
}

/** What hosts are asked to do and to hold, and what they need for it: images, secrets, trust. */
export class Tasks extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, data, nodes }: TasksProps) {
    super(scope, id);
    const { control } = kernel;
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/tasks/api.ts',
      description: 'Answers requests about tasks, and those of the nodes that carry them out.',
      memoryMb: 1024,
      concurrencyMax: 50,
      environment: {
        ...kernel.environment,
        HOST_KEY_ID: data.hostKey.keyArn,
        REGISTRY_HOST: data.registryHost,
        ROOT_WITHOUT_REMAP: configOf(this).rootWithoutRemap,
      },
    });
    kernel.grant(this.api);
    grantItems(this.api, control, {
      actions: ['BatchGetItem', 'PutItem', 'UpdateItem'],
      partitions: [TASK_PARTITIONS],
    });
    grantItems(this.api, control, { actions: ['GetItem', 'UpdateItem'], partitions: [SECRET_PARTITIONS] });
    // Workloads and fences stand beside their node.
    grantItems(this.api, control, {
      actions: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
      partitions: [NODE_PARTITIONS],
    });
    // Whose image it is, whether it is verified, and whether it was revoked.
    grantItems(this.api, control, {
      actions: ['BatchGetItem'],
      partitions: [REPOSITORY_PARTITION, CONTENT_PARTITIONS, ARTIFACT_PARTITIONS],
    });
    grantItems(this.api, control, { actions: ['Query'], partitions: [TRUST_PARTITION] });
    this.api.addToRolePolicy(
      new PolicyStatement({ actions: ['kms:GetPublicKey', 'kms:Sign'], resources: [data.hostKey.keyArn] }),
    );
    this.addPuller();

    const reactions = new Reactions(this, 'Reactions', {
      domain: 'tasks',
      kernel,
      description: 'Sends tasks to hosts.',
    });
    const sweep = new ScheduledFunction(this, 'Sweep', {
      entry: 'functions/tasks/sweep-tasks.ts',
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
      nodes.grantSend(fn);
    }
  }

  /** Hosts pull images with sessions of this role, each limited to what is assigned to one node. */
  private addPuller(): void {
    const puller = new Role(this, 'Puller', {
      description: 'Pulls images; each session is limited to the repositories of what one node is to run.',
      assumedBy: new ArnPrincipal(this.api.role?.roleArn ?? ''),
    });
    puller.addToPolicy(
      new PolicyStatement({
        actions: PREFIXES.nodePulls.actions.slice(),
        resources: [appRepositoriesArn(this)],
      }),
    );
    puller.addToPolicy(registryLogin());
    acknowledgeWide(puller, '*', ANY_RESOURCE.registryLogin.reason);
    acknowledgeWide(puller, appRepositoriesArn(this), PREFIXES.nodePulls.reason);
    this.api.addToRolePolicy(
      new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [puller.roleArn] }),
    );
    this.api.addEnvironment('PULLER_ROLE_ARN', puller.roleArn);
  }
}
