import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { ARTIFACT_PARTITIONS, CONTENT_PARTITIONS, TRUST_PARTITION } from '../functions/artifacts/keys.ts';
import { APP_PARTITIONS, CATALOG_PARTITION, OPEN_PROMOTIONS } from '../functions/catalog/keys.ts';
import type { Artifacts } from './artifacts.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { Reactions } from './reactions.ts';
import { Schedule } from './schedule.ts';
import { Workflow } from './workflow.ts';

export interface PromotionProps {
  kernel: Kernel;
  /** Where what is to be verified lies. */
  artifacts: Artifacts;
}

/** The way of versions and artifacts from draft to their end: their gates, canary, activation and retirement. */
export class Promotion extends Construct {
  /** What it does about events: starts promotions, answers the step that waits, rolls a failing canary back. */
  readonly reactions: Reactions;
  private readonly machineArn: string;
  private readonly control: Kernel['control'];
  private readonly kernel: Kernel;

  constructor(scope: Construct, id: string, { kernel, artifacts }: PromotionProps) {
    super(scope, id);
    const { control } = kernel;
    this.kernel = kernel;
    this.control = control;
    const environment = { CONTROL_TABLE: control.tableName };

    const check = new PlatformFunction(this, 'Check', {
      entry: 'functions/manifests/check-version.ts',
      description: 'Checks the manifest of a version that is to be staged.',
      // What app teams write is compiled and tried here.
      memoryMb: 1024,
      environment,
    });
    this.grantKeep(check);

    const verify = new PlatformFunction(this, 'Verify', {
      entry: 'functions/artifacts/verify-for-promotion.ts',
      description: 'Verifies an artifact that is to be promoted.',
      memoryMb: 1024,
      // A registry gets 20 seconds to answer.
      timeoutSeconds: 28,
      environment: { ...environment, ARTIFACTS_BUCKET: artifacts.bucketName },
    });
    this.grantMove(verify);
    grantItems(verify, control, { actions: ['Query'], partitions: [TRUST_PARTITION] });
    artifacts.grantReadImages(verify);
    artifacts.grantReadFiles(verify);

    const requestSmoke = new PlatformFunction(this, 'RequestSmoke', {
      entry: 'functions/catalog/request-smoke.ts',
      description: 'Asks for a smoke run and keeps the token that its verdict will answer.',
      environment,
    });
    this.grantLook(requestSmoke);
    this.grantKeep(requestSmoke);
    this.kernel.grantTell(requestSmoke);

    const advance = new PlatformFunction(this, 'Advance', {
      entry: 'functions/promotion/advance-promotion.ts',
      description: 'Makes one transition of a version or an artifact.',
      environment,
    });
    this.grantMove(advance);

    const watch = new PlatformFunction(this, 'Watch', {
      entry: 'functions/promotion/watch-instances.ts',
      description: 'Keeps the token of a retirement until the last instance has ended.',
      environment,
    });
    this.grantKeep(watch);

    const end = new PlatformFunction(this, 'EndPromotion', {
      entry: 'functions/catalog/end-promotion.ts',
      description: 'Writes down why a promotion failed.',
      environment,
    });
    this.grantLook(end);
    this.grantKeep(end);
    this.kernel.grantTell(end);

    const workflow = new Workflow(this, 'Run', {
      name: 'run-promotion',
      tasks: {
        CheckVersion: check,
        VerifyArtifact: verify,
        RequestSmoke: requestSmoke,
        AdvancePromotion: advance,
        WatchInstances: watch,
        EndPromotion: end,
      },
    });
    this.machineArn = workflow.stateMachineArn;

    this.reactions = new Reactions(this, 'Reactions', {
      domain: 'catalog',
      kernel,
      description: 'Starts and answers promotions, and judges canaries by how their instances do.',
      environment: { PROMOTION_MACHINE_ARN: this.machineArn },
    });
    this.grantMove(this.reactions);
    this.grantDrive(this.reactions);

    const sweep = new PlatformFunction(this, 'Sweep', {
      entry: 'functions/promotion/sweep-promotions.ts',
      description: 'Starts promotions that no event started, answers again, and ends those that hang.',
      timeoutSeconds: 120,
      // Two sweeps at once would do the same work against each other.
      concurrencyMax: 1,
      environment: { ...environment, PROMOTION_MACHINE_ARN: this.machineArn },
    });
    grantItems(sweep, control, { actions: ['Query'], partitions: [OPEN_PROMOTIONS], index: 'gsi1' });
    this.grantLook(sweep);
    this.grantKeep(sweep);
    this.kernel.grantTell(sweep);
    this.grantDrive(sweep);
    new Schedule(this, 'SweepSchedule', {
      run: sweep,
      every: Duration.minutes(5),
      description: 'Repairs promotions.',
    });
  }

  /** The right to start the workflow and to answer it. */
  private grantDrive(fn: PlatformFunction): void {
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['states:StartExecution', 'states:SendTaskSuccess', 'states:SendTaskFailure'],
        resources: [this.machineArn],
      }),
    );
  }

  /** Writing how far a promotion is. */
  private grantKeep(fn: PlatformFunction): void {
    grantItems(fn, this.control, {
      actions: ['GetItem', 'UpdateItem'],
      partitions: [APP_PARTITIONS, ARTIFACT_PARTITIONS],
    });
  }

  /** Reading where what is promoted stands, and whether an instance runs it. */
  private grantLook(fn: PlatformFunction): void {
    grantItems(fn, this.control, {
      actions: ['BatchGetItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS, ARTIFACT_PARTITIONS],
    });
    grantItems(fn, this.control, { actions: ['Query'], partitions: [CONTENT_PARTITIONS] });
  }

  /** Moving it: a version, with the app's row, while its artifacts are what they must be; or an artifact. */
  private grantMove(fn: PlatformFunction): void {
    this.grantLook(fn);
    this.grantKeep(fn);
    this.kernel.grantTell(fn);
    grantItems(fn, this.control, {
      actions: ['PutItem', 'ConditionCheckItem'],
      partitions: [APP_PARTITIONS, ARTIFACT_PARTITIONS],
    });
    grantItems(fn, this.control, { actions: ['DeleteItem'], partitions: [ARTIFACT_PARTITIONS] });
    grantItems(fn, this.control, { actions: ['PutItem', 'UpdateItem'], partitions: [CATALOG_PARTITION] });
  }
}
