import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { OPEN_SELFTESTS, SELFTEST_PARTITIONS } from '../functions/selftest/keys.ts';
import { TICKET_PARTITIONS } from '../functions/events/socket-keys.ts';
import { grantItems, grantSend } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { QueueConsumer } from './queue-consumer.ts';
import { Reactions } from './reactions.ts';
import { ScheduledFunction } from './scheduled-function.ts';
import type { Socket } from './socket.ts';
import { Workflow } from './workflow.ts';

export interface SelftestProps {
  kernel: Kernel;
  socket: Socket;
  version: string;
}

/** A run through every kind of connection: request, table, stream, reaction, workflow, queue, answer, push. */
export class Selftest extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, socket, version }: SelftestProps) {
    super(scope, id);
    const { control } = kernel;
    const CONTROL_TABLE = control.tableName;
    const runs = [SELFTEST_PARTITIONS];

    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/selftest/api.ts',
      description: 'Answers health and self-test requests.',
      concurrencyMax: 10,
      environment: { ...kernel.environment, SOCKET_URL: socket.publicUrl, PLATFORM_VERSION: version },
    });
    kernel.grant(this.api);
    grantItems(this.api, control, { actions: ['GetItem', 'PutItem'], partitions: runs });
    grantItems(this.api, control, { actions: ['PutItem'], partitions: [TICKET_PARTITIONS] });

    const answer = new QueueConsumer(this, 'Answer', {
      entry: 'functions/selftest/answer-selftest.ts',
      description: 'Takes the task from the queue and answers the waiting workflow.',
      timeoutSeconds: 5,
      environment: { CONTROL_TABLE },
    });
    grantItems(answer, control, { actions: ['GetItem', 'UpdateItem'], partitions: runs });
    kernel.grantTell(answer);

    const dispatch = new PlatformFunction(this, 'Dispatch', {
      entry: 'functions/selftest/dispatch-selftest.ts',
      description: 'Stores the task token and sends the task.',
      environment: { CONTROL_TABLE, SELFTEST_QUEUE_URL: answer.work.queue.queueUrl },
    });
    grantItems(dispatch, control, { actions: ['PutItem', 'UpdateItem'], partitions: runs });
    grantSend(dispatch, answer.work.queue);

    const end = new PlatformFunction(this, 'End', {
      entry: 'functions/selftest/end-selftest.ts',
      description: 'Writes the verdict of a run.',
      environment: { CONTROL_TABLE },
    });
    grantItems(end, control, { actions: ['GetItem', 'UpdateItem'], partitions: runs });
    kernel.grantTell(end);

    const workflow = new Workflow(this, 'Run', {
      name: 'run-selftest',
      tasks: { DispatchSelftest: dispatch, EndSelftest: end },
    });
    const machineArn = workflow.stateMachineArn;
    const grantStart = (fn: PlatformFunction): void =>
      fn.addToRolePolicy(
        new PolicyStatement({ actions: ['states:StartExecution'], resources: [machineArn] }),
      );
    answer.addToRolePolicy(
      new PolicyStatement({
        actions: ['states:SendTaskSuccess', 'states:SendTaskFailure'],
        resources: [machineArn],
      }),
    );

    const reactions = new Reactions(this, 'Reactions', {
      domain: 'selftest',
      kernel,
      description: 'Starts the workflow of a run.',
      environment: { SELFTEST_MACHINE_ARN: machineArn },
    });
    grantItems(reactions, control, { actions: ['GetItem', 'UpdateItem'], partitions: runs });
    kernel.grantTell(reactions);
    grantStart(reactions);

    const sweep = new ScheduledFunction(this, 'Sweep', {
      entry: 'functions/selftest/sweep-selftests.ts',
      description: 'Starts runs whose event was missed and ends runs that hang.',
      every: Duration.minutes(5),
      timeoutSeconds: 60,
      environment: { CONTROL_TABLE, SELFTEST_MACHINE_ARN: machineArn },
    });
    grantItems(sweep, control, { actions: ['Query'], partitions: [OPEN_SELFTESTS], index: 'gsi1' });
    grantItems(sweep, control, { actions: ['GetItem', 'UpdateItem'], partitions: runs });
    kernel.grantTell(sweep);
    grantStart(sweep);
  }
}
