import * as v from 'valibot';
import { AwsError } from '../wire/aws.ts';
import type { Machine } from './executions.ts';
import { checkMachineArn, UNKNOWN_MACHINE_ARN } from './names.ts';
import { Arn, operation, Page, type Operation } from './operation.ts';
import { cutPage, pageSize, readCursor } from './paging.ts';

export interface HostedMachine extends Machine {
  createdMs: number;
}

export type Machines = Map<string, HostedMachine>;

const MachineCursor = v.object({ name: v.string() });

export function machineOperations(machines: Machines): Record<string, Operation> {
  return {
    DescribeStateMachine: operation(
      'states:DescribeStateMachine',
      onMachine,
      v.object({ stateMachineArn: Arn }),
      ({ stateMachineArn }) => {
        const machine = findMachine(machines, stateMachineArn);
        const definition = JSON.stringify(machine.definition);
        return { ...summary(machine), status: 'ACTIVE', definition, roleArn: machine.roleArn };
      },
    ),
    ListStateMachines: operation(
      'states:ListStateMachines',
      () => '*',
      v.object(Page),
      ({ maxResults, nextToken }) => {
        const size = pageSize(maxResults);
        const after = readCursor(MachineCursor, nextToken)?.name ?? '';
        const rest = [...machines.values()]
          .filter(({ name }) => name > after)
          .sort((a, b) => (a.name < b.name ? -1 : 1));
        const cut = cutPage(rest, size, ({ name }) => ({ name }));
        return { stateMachines: cut.page.map(summary), nextToken: cut.nextToken };
      },
    ),
  };
}

export function findMachine(machines: Machines, arn: string): HostedMachine {
  checkMachineArn(arn);
  const found = machines.get(arn);
  if (!found) throw new AwsError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
  return found;
}

export function onMachine({ stateMachineArn }: Record<string, unknown>): string {
  return typeof stateMachineArn === 'string' ? stateMachineArn : UNKNOWN_MACHINE_ARN;
}

function summary({ arn, name, createdMs }: HostedMachine) {
  return { stateMachineArn: arn, name, type: 'STANDARD', creationDate: createdMs / 1000 };
}
