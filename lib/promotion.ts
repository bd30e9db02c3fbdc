import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { APP_PARTITIONS, CATALOG_PARTITION, OPEN_PROMOTIONS } from '../functions/catalog/keys.ts';
import { AUDIT_PARTITIONS, OUTBOX_PARTITIONS } from '../functions/platform/keys.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { Schedule } from './schedule.ts';
import { Workflow } from './workflow.ts';

export interface PromotionProps {
  kernel: Kernel;
}

/** The way of a version through the catalogue: its gates, its canary, its activation and its end. */
export class Promotion extends Construct {
  readonly machineArn: string;
  private readonly control: Kernel['control'];

  constructor(scope: Construct, id: string, { kernel: { control } }: PromotionProps) {
    super(scope, id);
    this.control = control;
    const environment = { CONTROL_TABLE: control.tableName };

    const check = new PlatformFunction(this, 'Check', {
      entry: 'functions/catalog/check-version.ts',
      description: 'Checks the manifest of a version that is to be staged.',
      // What app teams write is compiled and tried here.
      memoryMb: 1024,
      environment,
    });
    this.grantKeep(check);

    const requestSmoke = new PlatformFunction(this, 'RequestSmoke', {
      entry: 'functions/catalog/request-smoke.ts',
      description: 'Asks for a smoke run and keeps the token that its verdict will answer.',
      environment,
    });
    this.grantKeep(requestSmoke);
    this.grantTell(requestSmoke);

    const advance = new PlatformFunction(this, 'Advance', {
      entry: 'functions/catalog/advance-version.ts',
      description: 'Makes one transition of a version.',
      environment,
    });
    this.grantMove(advance);

    const watch = new PlatformFunction(this, 'Watch', {
      entry: 'functions/catalog/watch-instances.ts',
      description: 'Keeps the token of a retirement until the last instance has ended.',
      environment,
    });
    this.grantKeep(watch);

    const end = new PlatformFunction(this, 'EndPromotion', {
      entry: 'functions/catalog/end-promotion.ts',
      description: 'Writes down why a promotion failed.',
      environment,
    });
    this.grantKeep(end);
    this.grantTell(end);

    const workflow = new Workflow(this, 'Promote', {
      name: 'promote-version',
      tasks: {
        CheckVersion: check,
        RequestSmoke: requestSmoke,
        AdvanceVersion: advance,
        WatchInstances: watch,
        EndPromotion: end,
      },
    });
    this.machineArn = workflow.stateMachineArn;

    const sweep = new PlatformFunction(this, 'Sweep', {
      entry: 'functions/catalog/sweep-promotions.ts',
      description: 'Starts promotions the stream missed, answers again, and ends those that hang.',
      timeoutSeconds: 120,
      // Two sweeps at once would do the same work against each other.
      concurrencyMax: 1,
      environment: { ...environment, PROMOTION_MACHINE_ARN: this.machineArn },
    });
    grantItems(sweep, control, { actions: ['Query'], partitions: [OPEN_PROMOTIONS], index: 'gsi1' });
    this.grantKeep(sweep);
    this.grantTell(sweep);
    this.grantDrive(sweep);
    new Schedule(this, 'SweepSchedule', {
      run: sweep,
      every: Duration.minutes(5),
      description: 'Repairs promotions.',
    });
  }

  /** What a reaction needs: to start a promotion, to answer the step that waits, and to roll a canary back. */
  grantReact(fn: PlatformFunction): void {
    this.grantMove(fn);
    this.grantDrive(fn);
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

  /** Reading where a version stands, and writing how far its promotion is. */
  private grantKeep(fn: PlatformFunction): void {
    grantItems(fn, this.control, {
      actions: ['BatchGetItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS],
    });
    grantItems(fn, this.control, { actions: ['UpdateItem'], partitions: [APP_PARTITIONS] });
  }

  /** Moving a version: its row, the app's, and that its artifacts are what they must be. */
  private grantMove(fn: PlatformFunction): void {
    this.grantKeep(fn);
    this.grantTell(fn);
    grantItems(fn, this.control, {
      actions: ['PutItem', 'ConditionCheckItem'],
      partitions: [APP_PARTITIONS],
    });
    grantItems(fn, this.control, { actions: ['PutItem', 'UpdateItem'], partitions: [CATALOG_PARTITION] });
  }

  /** The audit and the outbox: only ever added to. */
  private grantTell(fn: PlatformFunction): void {
    grantItems(fn, this.control, { actions: ['PutItem'], partitions: [AUDIT_PARTITIONS, OUTBOX_PARTITIONS] });
  }
}
