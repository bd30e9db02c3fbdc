import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { AwsError } from '../wire/aws.ts';
import type { Executions } from './executions.ts';
import type { History, HistoryEvent } from './history.ts';
import { findMachine, onMachine, type Machines } from './machine-operations.ts';
import { checkExecutionArn, checkExecutionName, executionArn, UNKNOWN_MACHINE_ARN } from './names.ts';
import { Arn, Cause, ErrorName, operation, Page, parseJson, Payload, type Operation } from './operation.ts';
import { cutPage, pageSize, readCursor } from './paging.ts';
import type { Execution, Store } from './store.ts';

interface Parts {
  machines: Machines;
  executions: Executions;
  store: Store;
  history: History;
}

const ExecutionCursor = v.object({ startedMs: v.number(), arn: v.string() });
const EventCursor = v.object({ id: v.number() });
const StatusFilter = v.optional(
  v.picklist(['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'PENDING_REDRIVE']),
);

export function executionOperations(parts: Parts): Record<string, Operation> {
  const { machines, executions, store, history } = parts;
  const find = (arn: string): Execution => {
    checkExecutionArn(arn);
    const found = store.execution(arn);
    if (!found) throw new AwsError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
    return found;
  };

  return {
    StartExecution: operation(
      'states:StartExecution',
      onMachine,
      v.object({ stateMachineArn: Arn, name: v.optional(v.string()), input: v.optional(Payload, '{}') }),
      ({ stateMachineArn, name = randomUUID(), input }) => {
        const machine = findMachine(machines, stateMachineArn);
        checkExecutionName(name);
        parseJson(input, 'InvalidExecutionInput', 'Invalid State Machine Execution Input');
        const arn = executionArn(machine.arn, name);
        const known = store.execution(arn);
        if (known && (known.status !== 'RUNNING' || known.input !== input)) {
          throw new AwsError('ExecutionAlreadyExists', `Execution Already Exists: '${arn}'`);
        }
        const { startedMs } = known ?? executions.begin(machine, name, arn, input);
        return { executionArn: arn, startDate: startedMs / 1000 };
      },
    ),
    StopExecution: operation(
      'states:StopExecution',
      onExecution,
      v.object({ executionArn: Arn, error: ErrorName, cause: Cause }),
      ({ executionArn: arn, error, cause }) => {
        if (find(arn).status === 'RUNNING') executions.abort(arn, { error, cause });
        return { stopDate: (find(arn).stoppedMs ?? 0) / 1000 };
      },
    ),
    DescribeExecution: operation(
      'states:DescribeExecution',
      onExecution,
      v.object({ executionArn: Arn }),
      ({ executionArn: arn }) => {
        const { input, output, error, cause, ...execution } = find(arn);
        return {
          ...summary(execution),
          input,
          inputDetails: { included: true },
          output: output ?? undefined,
          outputDetails: output === null ? undefined : { included: true },
          error: error ?? undefined,
          cause: cause ?? undefined,
        };
      },
    ),
    ListExecutions: operation(
      'states:ListExecutions',
      onMachine,
      v.object({ stateMachineArn: Arn, statusFilter: StatusFilter, ...Page }),
      ({ stateMachineArn, statusFilter: status, maxResults, nextToken }) => {
        const size = pageSize(maxResults);
        const after = readCursor(ExecutionCursor, nextToken);
        const { arn: machineArn } = findMachine(machines, stateMachineArn);
        const found = store.listExecutions({ machineArn, status, after, limit: size + 1 });
        const cut = cutPage(found, size, ({ startedMs, arn }) => ({ startedMs, arn }));
        return { executions: cut.page.map(summary), nextToken: cut.nextToken };
      },
    ),
    GetExecutionHistory: operation(
      'states:GetExecutionHistory',
      onExecution,
      v.object({
        executionArn: Arn,
        reverseOrder: v.optional(v.boolean(), false),
        includeExecutionData: v.optional(v.boolean(), true),
        ...Page,
      }),
      ({ executionArn: arn, reverseOrder, includeExecutionData, maxResults, nextToken }) => {
        const size = pageSize(maxResults);
        const afterId = readCursor(EventCursor, nextToken)?.id;
        const found = history.page(find(arn).arn, { afterId, limit: size + 1, isReversed: reverseOrder });
        const cut = cutPage(found, size, ({ id }) => ({ id }));
        const events = includeExecutionData ? cut.page : cut.page.map(withoutData);
        return { events, nextToken: cut.nextToken };
      },
    ),
  };
}

function onExecution({ executionArn: arn }: Record<string, unknown>): string {
  return typeof arn === 'string' ? arn : executionArn(UNKNOWN_MACHINE_ARN, 'unknown');
}

function summary(execution: Omit<Execution, 'input' | 'output' | 'error' | 'cause'>) {
  return {
    executionArn: execution.arn,
    stateMachineArn: execution.machineArn,
    name: execution.name,
    status: execution.status,
    startDate: execution.startedMs / 1000,
    stopDate: execution.stoppedMs === null ? undefined : execution.stoppedMs / 1000,
    redriveCount: 0,
  };
}

function withoutData(event: HistoryEvent): HistoryEvent {
  const data = new Set(['input', 'output', 'parameters']);
  const text = JSON.stringify(event, (key, value: unknown) => (data.has(key) ? undefined : value));
  return JSON.parse(text) as HistoryEvent;
}
