import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import {
  ALLOCATION_PARTITIONS,
  CHANGING_VOLUMES,
  OPEN_ALLOCATIONS,
  projectAllocations,
  projectVolumes,
  SKU_PARTITION,
  VOLUME_PARTITIONS,
} from '../functions/allocations/keys.ts';
import { NODE_PARTITIONS, NODES_PARTITION } from '../functions/nodes/keys.ts';
import { PROJECT_PARTITIONS } from '../functions/platform/data/keys.ts';
import { TASK_PARTITIONS } from '../functions/tasks/keys.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { Reactions } from './reactions.ts';
import { ScheduledFunction } from './scheduled-function.ts';

/** Who holds what of which host: SKUs, allocations and volumes. */
export class Allocations extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel }: { kernel: Kernel }) {
    super(scope, id);
    const { control } = kernel;
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/allocations/api.ts',
      description: 'Answers requests about SKUs, allocations, their placement, and volumes.',
      memoryMb: 1024,
      concurrencyMax: 50,
      environment: kernel.environment,
    });
    kernel.grant(this.api);
    grantItems(this.api, control, {
      actions: ['GetItem', 'Query', 'PutItem', 'DeleteItem'],
      partitions: [SKU_PARTITION],
    });
    grantItems(this.api, control, {
      actions: ['Query'],
      partitions: [projectAllocations('*'), OPEN_ALLOCATIONS, projectVolumes('*'), NODES_PARTITION],
      index: 'gsi1',
    });
    // A request is judged by nodes, what is held of them, the SKU and the volume: by one read, which one statement has to
    // allow as a whole.
    grantItems(this.api, control, {
      actions: ['BatchGetItem'],
      partitions: [SKU_PARTITION, ALLOCATION_PARTITIONS, VOLUME_PARTITIONS, NODE_PARTITIONS],
    });
    // Nothing is allocated in an archived project.
    grantItems(this.api, control, { actions: ['ConditionCheckItem'], partitions: [PROJECT_PARTITIONS] });
    grantHolding(this.api, control);

    const reactions = new Reactions(this, 'Reactions', {
      domain: 'allocations',
      kernel,
      description:
        'Removes what runs on allocations that are released, frees them, and follows what happens to their hosts.',
      timeoutSeconds: 60,
    });
    grantFollowing(reactions, kernel);

    const sweep = new ScheduledFunction(this, 'Sweep', {
      entry: 'functions/allocations/sweep-allocations.ts',
      description: 'Continues releases and changes of volumes that wait for a host.',
      every: Duration.minutes(5),
      environment: { CONTROL_TABLE: control.tableName },
    });
    grantItems(sweep, control, {
      actions: ['Query'],
      partitions: [OPEN_ALLOCATIONS, CHANGING_VOLUMES, NODES_PARTITION],
      index: 'gsi1',
    });
    grantFollowing(sweep, kernel);
  }
}

/** The right to go on with what waits for a host. */
function grantFollowing(fn: PlatformFunction, kernel: Kernel): void {
  grantItems(fn, kernel.control, {
    actions: ['BatchGetItem'],
    partitions: [NODE_PARTITIONS, TASK_PARTITIONS],
  });
  grantHolding(fn, kernel.control);
  kernel.grantTell(fn);
}

/**
 * The right to take capacity of a node, to give it back, and to ask a host for what that needs, in one transaction with
 * the allocation or the volume.
 */
function grantHolding(fn: PlatformFunction, control: Kernel['control']): void {
  grantItems(fn, control, {
    actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
    partitions: [ALLOCATION_PARTITIONS, VOLUME_PARTITIONS],
  });
  grantItems(fn, control, {
    actions: ['Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
    partitions: [NODE_PARTITIONS],
  });
  grantItems(fn, control, { actions: ['PutItem'], partitions: [TASK_PARTITIONS] });
}
