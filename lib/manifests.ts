import { Construct } from 'constructs';
import { APP_PARTITIONS, CATALOG_PARTITION } from '../functions/catalog/keys.ts';
import {
  OPEN_SUBMISSIONS,
  PROJECT_SUBMISSIONS_PARTITIONS,
  SUBMISSION_PARTITIONS,
} from '../functions/manifests/keys.ts';
import { PROJECT_PARTITIONS } from '../functions/platform/data/keys.ts';
import { promotionPartitions } from '../functions/promotion/keys.ts';
import { configOf } from './config.ts';
import type { DataStack } from './data-stack.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';

export interface ManifestsProps {
  kernel: Kernel;
  data: Pick<DataStack, 'registryHost'>;
}

/**
 * Manifests, submissions and their review. Separate from the catalogue, whose function is called a hundred times as
 * often and does not need a YAML parser and all manifest rules.
 */
export class Manifests extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, data }: ManifestsProps) {
    super(scope, id);
    const { control } = kernel;
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/manifests/api.ts',
      description: 'Answers requests about manifests, submissions and their review.',
      memoryMb: 1024,
      concurrencyMax: 20,
      environment: {
        ...kernel.environment,
        REGISTRY_HOST: data.registryHost,
        REGISTRY_NAME: configOf(this).registryName,
      },
    });
    kernel.grant(this.api);
    grantItems(this.api, control, { actions: ['GetItem', 'PutItem'], partitions: [SUBMISSION_PARTITIONS] });
    // A manifest becomes a version of an app.
    grantItems(this.api, control, {
      actions: ['PutItem', 'UpdateItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS],
    });
    // A registration reads the app together with the project it will belong to, by one request, which one statement
    // has to allow as a whole.
    grantItems(this.api, control, {
      actions: ['BatchGetItem'],
      partitions: [
        CATALOG_PARTITION,
        APP_PARTITIONS,
        SUBMISSION_PARTITIONS,
        PROJECT_PARTITIONS,
        promotionPartitions('version'),
      ],
    });
    // A draft is not replaced while it is being promoted.
    grantItems(this.api, control, {
      actions: ['ConditionCheckItem'],
      partitions: [promotionPartitions('version')],
    });
    grantItems(this.api, control, {
      actions: ['Query', 'PutItem', 'DeleteItem'],
      partitions: [OPEN_SUBMISSIONS],
    });
    grantItems(this.api, control, {
      actions: ['Query'],
      partitions: [PROJECT_SUBMISSIONS_PARTITIONS],
      index: 'gsi1',
    });
  }
}
