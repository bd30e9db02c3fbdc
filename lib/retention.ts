import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import {
  ARTIFACT_PARTITIONS,
  CONTENT_PARTITIONS,
  DUE_ARTIFACTS,
  projectArtifacts,
  TRUST_PARTITION,
} from '../functions/artifacts/keys.ts';
import { APP_PARTITIONS, CATALOG_PARTITION } from '../functions/catalog/keys.ts';
import { REPOSITORY_PARTITION } from '../functions/storage/keys.ts';
import { promotionPartitions } from '../functions/promotion/keys.ts';
import type { Artifacts } from './artifacts.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { ScheduledFunction } from './scheduled-function.ts';

export interface RetentionProps {
  kernel: Kernel;
  artifacts: Artifacts;
}

/** Scheduled work on artifacts: verifies them again, and removes unneeded content. */
export class Retention extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, artifacts }: RetentionProps) {
    super(scope, id);
    const environment = {
      ARTIFACTS_BUCKET: artifacts.bucketName,
      CONTROL_TABLE: kernel.control.tableName,
    };

    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/retention/api.ts',
      description: 'Answers requests about published content that no artifact needs.',
      memoryMb: 1024,
      timeoutSeconds: 28,
      concurrencyMax: 5,
      environment: { ...kernel.environment, ARTIFACTS_BUCKET: artifacts.bucketName },
    });
    kernel.grant(this.api);
    this.grantLook(this.api, kernel);
    artifacts.grantList(this.api);

    const maintain = new ScheduledFunction(this, 'Maintain', {
      entry: 'functions/retention/maintain-artifacts.ts',
      description: 'Verifies artifacts again and removes old drafts.',
      every: Duration.minutes(5),
      memoryMb: 1024,
      environment,
    });
    this.grantMaintain(maintain, kernel);
    artifacts.grantReadImages(maintain);
    artifacts.grantReadFiles(maintain);

    const sweep = new ScheduledFunction(this, 'Sweep', {
      entry: 'functions/retention/sweep-repositories.ts',
      description: 'Removes published images and files that no artifact needs.',
      every: Duration.days(1),
      timeoutSeconds: 15 * 60,
      memoryMb: 1024,
      environment,
    });
    this.grantSweep(sweep, kernel);
    artifacts.grantList(sweep);
    artifacts.grantRemove(sweep);
  }

  /** Artifacts with what their apps say of them, and the index of those whose time has come. */
  private grantMaintain(fn: PlatformFunction, kernel: Kernel): void {
    const { control } = kernel;
    grantItems(fn, control, { actions: ['Query'], partitions: [DUE_ARTIFACTS], index: 'gsi1' });
    grantItems(fn, control, { actions: ['Query'], partitions: [TRUST_PARTITION] });
    grantItems(fn, control, {
      actions: ['GetItem', 'PutItem', 'UpdateItem'],
      partitions: [ARTIFACT_PARTITIONS],
    });
    // A draft goes with its promotion.
    grantItems(fn, control, {
      actions: ['BatchGetItem', 'DeleteItem'],
      partitions: [ARTIFACT_PARTITIONS, promotionPartitions('artifact')],
    });
    grantItems(fn, control, { actions: ['UpdateItem'], partitions: [CONTENT_PARTITIONS] });
    // Lost or regained trust is also noted in the app's row, and no version may move in the same moment.
    grantItems(fn, control, {
      actions: ['BatchGetItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS],
    });
    grantItems(fn, control, { actions: ['PutItem', 'UpdateItem'], partitions: [CATALOG_PARTITION] });
    grantItems(fn, control, { actions: ['ConditionCheckItem'], partitions: [APP_PARTITIONS] });
    kernel.grantTell(fn);
  }

  /** The repositories, and what is registered in them. */
  private grantLook(fn: PlatformFunction, { control }: Kernel): void {
    grantItems(fn, control, { actions: ['Query'], partitions: [REPOSITORY_PARTITION] });
    grantItems(fn, control, { actions: ['Query'], partitions: [projectArtifacts('*')], index: 'gsi1' });
  }

  /** What is registered, and the repositories, which it takes while it removes. */
  private grantSweep(fn: PlatformFunction, kernel: Kernel): void {
    const { control } = kernel;
    this.grantLook(fn, kernel);
    grantItems(fn, control, { actions: ['UpdateItem'], partitions: [REPOSITORY_PARTITION] });
    grantItems(fn, control, {
      actions: ['BatchGetItem'],
      partitions: [ARTIFACT_PARTITIONS, CONTENT_PARTITIONS],
    });
    kernel.grantTell(fn);
  }
}
