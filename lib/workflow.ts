import { join } from 'node:path';
import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { acknowledgeWide } from './acknowledge.ts';
import { ROOT } from './bundle.ts';
import { configOf } from './config.ts';
import { grantInvoke } from './grants.ts';
import { ANY_RESOURCE } from './wildcards.ts';

export interface WorkflowProps {
  /** `state-machines/<name>.asl.json`: file = machine = verb and noun. */
  name: string;
  /** The file, where several machines share one. */
  definition?: string;
  /** The functions its steps call, by the name the definition substitutes: `${DispatchSelftest}`. */
  tasks: Record<string, IFunction>;
}

/** A state machine from its file, with the right to call its own steps and nothing else. */
export class Workflow extends StateMachine {
  constructor(scope: Construct, id: string, { name, definition = name, tasks }: WorkflowProps) {
    const stateMachineName = `${Stack.of(scope).stackName}-${name}`;
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('states.amazonaws.com') });
    for (const task of Object.values(tasks)) grantInvoke(role, task);
    const { logDelivery, tracing, traceSampling } = ANY_RESOURCE;
    acknowledgeWide(role, '*', [logDelivery, tracing, traceSampling].map(({ reason }) => reason).join(' '));

    super(scope, id, {
      stateMachineName,
      definitionBody: DefinitionBody.fromFile(join(ROOT, 'state-machines', `${definition}.asl.json`)),
      definitionSubstitutions: Object.fromEntries(
        Object.entries(tasks).map(([task, fn]) => [task, fn.functionArn]),
      ),
      role,
      tracingEnabled: true,
      // Input and output stay out of the log: they may name what only the table should know.
      logs: {
        level: LogLevel.ALL,
        includeExecutionData: false,
        destination: new LogGroup(scope, `${id}Log`, {
          // The prefix spares the account's log resource policy, which is short and would fill up.
          logGroupName: `/aws/vendedlogs/states/${stateMachineName}`,
          retention: configOf(scope).logRetentionDays,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      },
    });
  }
}
