import { Construct } from 'constructs';
import { ARTIFACT_PARTITIONS } from '../functions/artifacts/keys.ts';
import { APP_PARTITIONS, CATALOG_PARTITION, ENTITLEMENT_PARTITIONS } from '../functions/catalog/keys.ts';
import {
  counterPartitions,
  SERVICE_ACCOUNT_PARTITIONS,
  USER_PARTITIONS,
} from '../functions/platform/data/keys.ts';
import { PROMOTION_POLICY_PARTITION, promotionPartitions } from '../functions/promotion/keys.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { Promotion } from './promotion.ts';
import { Reactions } from './reactions.ts';

export interface CatalogProps {
  kernel: Kernel;
}

const VERSION_PROMOTIONS = promotionPartitions('version');
const VERSION_COUNTERS = counterPartitions('version');

/** Apps, their versions, and who may launch them. */
export class Catalog extends Construct {
  readonly api: PlatformFunction;
  private readonly control: Kernel['control'];

  constructor(scope: Construct, id: string, { kernel }: CatalogProps) {
    super(scope, id);
    const { control } = kernel;
    this.control = control;
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/catalog/api.ts',
      description: 'Answers requests about apps, versions, promotions and entitlements.',
      memoryMb: 1024,
      concurrencyMax: 50,
      environment: kernel.environment,
    });
    kernel.grant(this.api);
    grantItems(this.api, control, {
      actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS],
    });
    // A promotion begins only while the version's artifacts are far enough; otherwise they are read to say what is
    // missing.
    grantItems(this.api, control, {
      actions: ['BatchGetItem', 'ConditionCheckItem'],
      partitions: [ARTIFACT_PARTITIONS],
    });
    // Apps are read together with entitlements, a promotion or the caller's own item, by one request, which one statement
    // has to allow as a whole.
    grantItems(this.api, control, {
      actions: ['BatchGetItem'],
      partitions: [
        CATALOG_PARTITION,
        APP_PARTITIONS,
        ENTITLEMENT_PARTITIONS,
        VERSION_PROMOTIONS,
        VERSION_COUNTERS,
        PROMOTION_POLICY_PARTITION,
        USER_PARTITIONS,
        SERVICE_ACCOUNT_PARTITIONS,
      ],
    });
    grantItems(this.api, control, {
      actions: ['GetItem', 'PutItem'],
      partitions: [PROMOTION_POLICY_PARTITION],
    });
    grantItems(this.api, control, { actions: ['UpdateItem'], partitions: [ENTITLEMENT_PARTITIONS] });
    grantItems(this.api, control, { actions: ['GetItem', 'UpdateItem'], partitions: [VERSION_PROMOTIONS] });

    grantItems(this.api, control, { actions: ['GetItem'], partitions: [VERSION_COUNTERS] });

    const reactions = new Reactions(this, 'Reactions', {
      domain: 'catalog',
      kernel,
      description:
        'Starts and continues promotions of versions, and rolls back canaries whose instances fail.',
    });
    const check = new PlatformFunction(this, 'Check', {
      entry: 'functions/manifests/check-version.ts',
      description: 'Checks the manifest of a version before it is staged.',
      // What app teams write is compiled and tried here.
      memoryMb: 1024,
      environment: { CONTROL_TABLE: control.tableName },
    });
    grantItems(check, control, { actions: ['GetItem'], partitions: [APP_PARTITIONS] });
    new Promotion(this, 'Promotion', {
      kernel,
      kind: 'version',
      domain: 'catalog',
      gate: check,
      reactions,
      grantMove: (fn) => this.grantMove(fn),
    });
  }

  /** A version moves with its app's row, while its artifacts are what they must be. */
  private grantMove(fn: PlatformFunction): void {
    grantItems(fn, this.control, {
      actions: ['BatchGetItem'],
      partitions: [
        CATALOG_PARTITION,
        APP_PARTITIONS,
        ARTIFACT_PARTITIONS,
        VERSION_PROMOTIONS,
        VERSION_COUNTERS,
      ],
    });
    grantItems(fn, this.control, {
      actions: ['PutItem', 'UpdateItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS],
    });
    grantItems(fn, this.control, {
      actions: ['ConditionCheckItem'],
      partitions: [APP_PARTITIONS, ARTIFACT_PARTITIONS, VERSION_COUNTERS],
    });
  }
}
