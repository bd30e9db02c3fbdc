import { Duration, Stack } from 'aws-cdk-lib';
import { ArnPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { NODE_PARTITIONS, NODE_QUEUE_PREFIX, NODES_PARTITION } from '../functions/nodes/keys.ts';
import { NODE_PRINCIPAL_PARTITIONS } from '../functions/platform/data/keys.ts';
import { acknowledgeWide } from './acknowledge.ts';
import { configOf } from './config.ts';
import type { DataStack } from './data-stack.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { Reactions } from './reactions.ts';
import { ScheduledFunction } from './scheduled-function.ts';
import { PREFIXES } from './wildcards.ts';

export interface NodesProps {
  kernel: Kernel;
  data: Pick<DataStack, 'hostKey' | 'registryHost'>;
}

/** Hosts: how they join, whether they are heard of, and the queues they are asked through. */
export class Nodes extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, data }: NodesProps) {
    super(scope, id);
    const { control } = kernel;
    const { heartbeatSeconds, nodeSuspectSeconds, nodeLostSeconds } = configOf(this);
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/nodes/api.ts',
      description: 'Answers requests about nodes, and what nodes tell of themselves.',
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
      actions: ['BatchGetItem', 'PutItem'],
      partitions: [NODE_PARTITIONS, NODE_PRINCIPAL_PARTITIONS],
    });
    grantItems(this.api, control, { actions: ['DeleteItem'], partitions: [NODE_PRINCIPAL_PARTITIONS] });
    grantItems(this.api, control, {
      actions: ['UpdateItem', 'ConditionCheckItem', 'Query'],
      partitions: [NODE_PARTITIONS],
    });
    grantItems(this.api, control, { actions: ['Query'], partitions: [NODES_PARTITION], index: 'gsi1' });
    this.grantQueues(this.api, ['sqs:CreateQueue', 'sqs:GetQueueUrl']);
    // Who joins is told by which key the platform is known; this function signs nothing with it.
    this.api.addToRolePolicy(
      new PolicyStatement({ actions: ['kms:GetPublicKey'], resources: [data.hostKey.keyArn] }),
    );
    this.addQueueReader();

    const reactions = new Reactions(this, 'Reactions', {
      domain: 'nodes',
      kernel,
      description: 'Removes the queue of a node that was removed.',
    });
    grantItems(reactions, control, { actions: ['BatchGetItem'], partitions: [NODE_PARTITIONS] });
    this.grantQueues(reactions, ['sqs:GetQueueUrl', 'sqs:DeleteQueue']);

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
  }

  /** The right to find the queues of nodes and to send to them. */
  grantSend(fn: PlatformFunction): void {
    this.grantQueues(fn, ['sqs:GetQueueUrl', 'sqs:SendMessage']);
  }

  /** Hosts read their queue with sessions of this role, each limited to that one. */
  private addQueueReader(): void {
    const reader = new Role(this, 'QueueReader', {
      description: 'Reads queues of nodes; each session is limited to that of one node.',
      assumedBy: new ArnPrincipal(this.api.role?.roleArn ?? ''),
    });
    reader.addToPolicy(
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
    acknowledgeWide(reader, this.queuesArn(), PREFIXES.nodeQueues.reason);
    this.api.addToRolePolicy(
      new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [reader.roleArn] }),
    );
    this.api.addEnvironment('QUEUE_READER_ROLE_ARN', reader.roleArn);
  }

  private grantQueues(fn: PlatformFunction, actions: (typeof PREFIXES.nodeQueues.actions)[number][]): void {
    fn.addToRolePolicy(new PolicyStatement({ actions, resources: [this.queuesArn()] }));
    acknowledgeWide(fn.role ?? fn, this.queuesArn(), PREFIXES.nodeQueues.reason);
  }

  private queuesArn(): string {
    return Stack.of(this).formatArn({ service: 'sqs', resource: `${NODE_QUEUE_PREFIX}*` });
  }
}
