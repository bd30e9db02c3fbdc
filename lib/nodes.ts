import { Duration, Stack } from 'aws-cdk-lib';
import { ArnPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { NODE_PARTITIONS, NODE_QUEUE_PREFIX, NODES_PARTITION } from '../functions/nodes/keys.ts';
import { NODE_PRINCIPAL_PARTITIONS } from '../functions/platform/data/keys.ts';
import { acknowledgeWide } from './acknowledge.ts';
import { appRepositoriesArn, registryLogin } from './app-repositories.ts';
import { configOf } from './config.ts';
import type { DataStack } from './data-stack.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { addNodeTasks } from './node-tasks.ts';
import { PlatformFunction } from './platform-function.ts';
import { Reactions } from './reactions.ts';
import { ScheduledFunction } from './scheduled-function.ts';
import { ANY_RESOURCE, PREFIXES } from './wildcards.ts';

export interface NodesProps {
  kernel: Kernel;
  data: Pick<DataStack, 'hostKey' | 'registryHost'>;
}

/** Hosts: how they join, whether they are heard of, and what they are asked to do. */
export class Nodes extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, data }: NodesProps) {
    super(scope, id);
    const { control } = kernel;
    const { heartbeatSeconds, nodeSuspectSeconds, nodeLostSeconds } = configOf(this);
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/nodes/api.ts',
      description: 'Answers requests about nodes, and those of the nodes themselves.',
      memoryMb: 1024,
      concurrencyMax: 50,
      environment: {
        ...kernel.environment,
        HEARTBEAT_SECONDS: String(heartbeatSeconds),
        HOST_KEY_ID: data.hostKey.keyArn,
        REGISTRY_HOST: data.registryHost,
      },
    });
    kernel.grant(this.api);
    // A node is read along with who it is, by one request, which one statement has to allow as a whole.
    grantItems(this.api, control, {
      actions: ['BatchGetItem', 'PutItem', 'DeleteItem'],
      partitions: [NODE_PARTITIONS, NODE_PRINCIPAL_PARTITIONS],
    });
    grantItems(this.api, control, {
      actions: ['GetItem', 'UpdateItem', 'ConditionCheckItem', 'Query'],
      partitions: [NODE_PARTITIONS],
    });
    grantItems(this.api, control, { actions: ['Query'], partitions: [NODES_PARTITION], index: 'gsi1' });
    this.grantQueues(this.api, ['sqs:CreateQueue', 'sqs:GetQueueUrl']);
    this.api.addToRolePolicy(
      new PolicyStatement({ actions: ['kms:GetPublicKey', 'kms:Sign'], resources: [data.hostKey.keyArn] }),
    );
    this.api.addEnvironment('NODE_AGENT_ROLE_ARN', this.agentRole(this.api).roleArn);

    const reactions = new Reactions(this, 'Reactions', {
      domain: 'nodes',
      kernel,
      description: 'Sends tasks to hosts, and removes the queue of a node that was removed.',
    });
    grantItems(reactions, control, { actions: ['BatchGetItem'], partitions: [NODE_PARTITIONS] });
    this.grantQueues(reactions, ['sqs:DeleteQueue']);

    const sweep = new ScheduledFunction(this, 'Sweep', {
      entry: 'functions/nodes/sweep-nodes.ts',
      description: 'Marks nodes that are no longer heard of.',
      every: Duration.minutes(1),
      timeoutSeconds: 60,
      environment: {
        CONTROL_TABLE: control.tableName,
        NODE_LOST_SECONDS: String(nodeLostSeconds),
        NODE_SUSPECT_SECONDS: String(nodeSuspectSeconds),
      },
    });
    grantItems(sweep, control, { actions: ['Query'], partitions: [NODES_PARTITION], index: 'gsi1' });
    grantItems(sweep, control, {
      actions: ['BatchGetItem', 'PutItem', 'UpdateItem'],
      partitions: [NODE_PARTITIONS],
    });
    kernel.grantTell(sweep);

    addNodeTasks(this, {
      kernel,
      api: this.api,
      reactions,
      grantSend: (fn) => this.grantQueues(fn, ['sqs:GetQueueUrl', 'sqs:SendMessage']),
    });
  }

  /** Hosts read their queue and pull images with sessions of this role, each limited to what is its node's. */
  private agentRole(api: PlatformFunction): Role {
    const role = new Role(this, 'Agent', {
      description: 'Reads queues and pulls images; each session is limited to what one node is to have.',
      assumedBy: new ArnPrincipal(api.role?.roleArn ?? ''),
    });
    role.addToPolicy(
      new PolicyStatement({
        actions: [
          'sqs:ReceiveMessage',
          'sqs:DeleteMessage',
          'sqs:ChangeMessageVisibility',
          'sqs:GetQueueAttributes',
        ],
        resources: [this.queuesArn()],
      }),
    );
    role.addToPolicy(
      new PolicyStatement({
        actions: PREFIXES.nodePulls.actions.slice(),
        resources: [appRepositoriesArn(this)],
      }),
    );
    role.addToPolicy(registryLogin());
    acknowledgeWide(role, '*', ANY_RESOURCE.registryLogin.reason);
    acknowledgeWide(role, this.queuesArn(), PREFIXES.nodeQueues.reason);
    acknowledgeWide(role, appRepositoriesArn(this), PREFIXES.nodePulls.reason);
    api.addToRolePolicy(new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [role.roleArn] }));
    return role;
  }

  private grantQueues(fn: PlatformFunction, actions: (typeof PREFIXES.nodeQueues.actions)[number][]): void {
    fn.addToRolePolicy(new PolicyStatement({ actions, resources: [this.queuesArn()] }));
    acknowledgeWide(fn.role ?? fn, this.queuesArn(), PREFIXES.nodeQueues.reason);
  }

  private queuesArn(): string {
    return Stack.of(this).formatArn({ service: 'sqs', resource: `${NODE_QUEUE_PREFIX}*` });
  }
}
