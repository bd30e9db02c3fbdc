import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import {
  ARTIFACT_PARTITIONS,
  CONTENT_PARTITIONS,
  DUE_ARTIFACTS,
  OPEN_INTENTS,
  projectArtifacts,
  REPOSITORY_PARTITION,
  TRUST_PARTITION,
} from '../functions/artifacts/keys.ts';
import { APP_PARTITIONS, CATALOG_PARTITION } from '../functions/catalog/keys.ts';
import { PROJECT_PARTITIONS } from '../functions/platform/data/keys.ts';
import type { Artifacts } from './artifacts.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { Schedule } from './schedule.ts';

export interface ArtifactCareProps {
  kernel: Kernel;
  artifacts: Artifacts;
}

/** What the platform does about artifacts by itself: it looks at their trust again, and removes what nobody needs. */
export class ArtifactCare extends Construct {
  constructor(scope: Construct, id: string, { kernel, artifacts }: ArtifactCareProps) {
    super(scope, id);
    const environment = {
      ARTIFACTS_BUCKET: artifacts.bucketName,
      CONTROL_TABLE: kernel.control.tableName,
    };

    const care = new PlatformFunction(this, 'Care', {
      entry: 'functions/retention/maintain-artifacts.ts',
      description: 'Verifies artifacts again, forgets old drafts, and ends intents nobody used.',
      timeoutSeconds: 120,
      memoryMb: 1024,
      // Two at once would do the same work against each other.
      concurrencyMax: 1,
      environment,
    });
    this.grantCare(care, kernel);
    artifacts.grantReadImages(care);
    artifacts.grantReadFiles(care);
    new Schedule(this, 'CareSchedule', {
      run: care,
      every: Duration.minutes(5),
      description: 'Looks after artifacts.',
    });

    const sweep = new PlatformFunction(this, 'Sweep', {
      entry: 'functions/retention/sweep-repositories.ts',
      description: 'Removes images and files that were published and never registered.',
      timeoutSeconds: 15 * 60,
      memoryMb: 1024,
      concurrencyMax: 1,
      environment,
    });
    this.grantSweep(sweep, kernel);
    artifacts.grantList(sweep);
    artifacts.grantRemove(sweep);
    new Schedule(this, 'SweepSchedule', {
      run: sweep,
      every: Duration.days(1),
      description: 'Removes what nobody registered.',
    });
  }

  /** Artifacts with what their apps say of them, intents, and the indexes of those whose time has come. */
  private grantCare(fn: PlatformFunction, kernel: Kernel): void {
    const { control } = kernel;
    grantItems(fn, control, {
      actions: ['Query'],
      partitions: [DUE_ARTIFACTS, OPEN_INTENTS],
      index: 'gsi1',
    });
    grantItems(fn, control, { actions: ['Query'], partitions: [TRUST_PARTITION] });
    grantItems(fn, control, {
      actions: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
      partitions: [ARTIFACT_PARTITIONS],
    });
    grantItems(fn, control, { actions: ['UpdateItem'], partitions: [CONTENT_PARTITIONS] });
    grantItems(fn, control, { actions: ['GetItem', 'UpdateItem'], partitions: [PROJECT_PARTITIONS] });
    grantItems(fn, control, {
      actions: ['BatchGetItem', 'ConditionCheckItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS],
    });
    grantItems(fn, control, { actions: ['PutItem', 'UpdateItem'], partitions: [CATALOG_PARTITION] });
    kernel.grantTell(fn);
  }

  /** What is registered, and the repositories, which it takes while it removes. */
  private grantSweep(fn: PlatformFunction, kernel: Kernel): void {
    const { control } = kernel;
    grantItems(fn, control, { actions: ['Query', 'UpdateItem'], partitions: [REPOSITORY_PARTITION] });
    grantItems(fn, control, { actions: ['Query'], partitions: [projectArtifacts('*')], index: 'gsi1' });
    grantItems(fn, control, {
      actions: ['BatchGetItem'],
      partitions: [ARTIFACT_PARTITIONS, CONTENT_PARTITIONS],
    });
    kernel.grantTell(fn);
  }
}
