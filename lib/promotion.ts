import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Reactor } from '../functions/events.ts';
import { openPromotions, promotionPartitions } from '../functions/promotion/keys.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import type { Reactions } from './reactions.ts';
import { ScheduledFunction } from './scheduled-function.ts';
import { Workflow } from './workflow.ts';

export interface PromotionProps {
  kernel: Kernel;
  /** As its subjects say it: `version`. */
  kind: string;
  /** Whose functions make the steps: functions/<domain>/run-promotion-step.ts and sweep-promotions.ts. */
  domain: Reactor;
  /** Decides whether a promotion goes on. */
  gate: PlatformFunction;
  /** What the domain does about events: it starts and answers promotions. */
  reactions: Reactions;
  /** The right to find and to move what is promoted. */
  grantMove: (fn: PlatformFunction) => void;
}

/** The promotion of one kind: a machine of its own from the one definition, with functions of the kind's domain. */
export class Promotion extends Construct {
  constructor(scope: Construct, id: string, props: PromotionProps) {
    super(scope, id);
    const { kernel, kind, domain, gate, reactions, grantMove } = props;
    const environment = { CONTROL_TABLE: kernel.control.tableName };

    const step = new PlatformFunction(this, 'Step', {
      entry: `functions/${domain}/run-promotion-step.ts`,
      description: `Runs the steps of ${kind} promotions.`,
      environment,
    });
    const workflow = new Workflow(this, 'Run', {
      name: `promote-${kind}`,
      definition: 'run-promotion',
      tasks: { PassGate: gate, RunStep: step },
    });
    const PROMOTION_MACHINE_ARN = workflow.stateMachineArn;

    const sweep = new ScheduledFunction(this, 'Sweep', {
      entry: `functions/${domain}/sweep-promotions.ts`,
      description:
        'Repairs promotions: starts and continues those whose event was missed, ends those that hang.',
      every: Duration.minutes(5),
      environment: { ...environment, PROMOTION_MACHINE_ARN },
    });
    grantItems(sweep, kernel.control, {
      actions: ['Query'],
      partitions: [openPromotions(kind)],
      index: 'gsi1',
    });

    reactions.addEnvironment('PROMOTION_MACHINE_ARN', PROMOTION_MACHINE_ARN);
    for (const fn of [gate, step, sweep, reactions])
      grantItems(fn, kernel.control, {
        actions: ['GetItem', 'UpdateItem'],
        partitions: [promotionPartitions(kind)],
      });
    for (const fn of [step, sweep, reactions]) {
      grantMove(fn);
      kernel.grantTell(fn);
    }
    const drive = new PolicyStatement({
      actions: ['states:StartExecution', 'states:SendTaskSuccess', 'states:SendTaskFailure'],
      resources: [PROMOTION_MACHINE_ARN],
    });
    for (const fn of [sweep, reactions]) fn.addToRolePolicy(drive);
  }
}
