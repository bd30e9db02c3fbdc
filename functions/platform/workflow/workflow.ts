// How functions start workflows and answer those that wait. Everything here may be done twice and is done once.

import { SendTaskFailureCommand, SendTaskSuccessCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { isNamed } from '../aws-errors.ts';
import { stepFunctions } from '../clients.ts';
import type { Context } from '../context.ts';
import type { EventId, OperationId, SelftestId } from '../ids.ts';

/** The execution bears the id of what asked for it, so however often it is started, it runs once. Its steps are found under the same ids. */
export async function startExecution(
  ctx: Pick<Context, 'correlationId' | 'traceparent'>,
  machineArn: string,
  name: OperationId | SelftestId | EventId,
  input: Record<string, unknown>,
): Promise<void> {
  const found = { correlation_id: ctx.correlationId, traceparent: ctx.traceparent };
  await unless(['ExecutionAlreadyExists'], () =>
    stepFunctions().send(
      new StartExecutionCommand({
        stateMachineArn: machineArn,
        name,
        input: JSON.stringify({ ...input, ...found }),
      }),
    ),
  );
}

// The token of a repeated answer is used, that of a late answer has expired: both are harmless.
const ANSWERED_BEFORE = ['TaskDoesNotExist', 'TaskTimedOut', 'InvalidToken'];

export async function answerTask(taskToken: string): Promise<void> {
  await unless(ANSWERED_BEFORE, () =>
    stepFunctions().send(new SendTaskSuccessCommand({ taskToken, output: '{}' })),
  );
}

export async function refuseTask(taskToken: string, error: Pick<Error, 'name' | 'message'>): Promise<void> {
  await unless(ANSWERED_BEFORE, () =>
    stepFunctions().send(new SendTaskFailureCommand({ taskToken, error: error.name, cause: error.message })),
  );
}

async function unless(harmless: string[], send: () => Promise<unknown>): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!isNamed(error, ...harmless)) throw error;
  }
}
