import { Construct } from 'constructs';
import { ARTIFACT_PARTITIONS } from '../functions/artifacts/keys.ts';
import { APP_PARTITIONS, CATALOG_PARTITION } from '../functions/catalog/keys.ts';
import { ORG_PARTITIONS, PROJECT_PARTITIONS } from '../functions/platform/data/keys.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';

export interface CatalogProps {
  kernel: Kernel;
}

/** Apps, their versions, and who may launch them. */
export class Catalog extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel }: CatalogProps) {
    super(scope, id);
    const { control } = kernel;
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/catalog/api.ts',
      description: 'Answers requests about apps, versions, promotions and entitlements.',
      memoryMb: 1024,
      concurrencyMax: 50,
      environment: kernel.environment,
    });
    kernel.grant(this.api);
    grantItems(this.api, control, {
      actions: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS],
    });
    // A promotion begins only while the version's artifacts are far enough.
    grantItems(this.api, control, { actions: ['ConditionCheckItem'], partitions: [ARTIFACT_PARTITIONS] });
    // The entitlements of a project and of its organisation stand in their partitions; apps are read with them, by
    // one request, which one statement has to allow as a whole.
    grantItems(this.api, control, {
      actions: ['BatchGetItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS, PROJECT_PARTITIONS, ORG_PARTITIONS],
    });
    grantItems(this.api, control, {
      actions: ['UpdateItem', 'ConditionCheckItem'],
      partitions: [PROJECT_PARTITIONS, ORG_PARTITIONS],
    });
  }
}
