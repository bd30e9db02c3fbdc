import { SendTaskFailureCommand, SendTaskSuccessCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { isNamed } from '../platform/aws-errors.ts';
import { stepFunctions } from '../platform/clients.ts';
import { environment } from '../platform/environment.ts';

/** The execution bears the run's id, so however often it is started, it runs once. */
export async function startExecution(selftestId: string, correlationId: string): Promise<void> {
  await unless(['ExecutionAlreadyExists'], () =>
    stepFunctions().send(
      new StartExecutionCommand({
        stateMachineArn: environment('SELFTEST_MACHINE_ARN'),
        name: selftestId,
        input: JSON.stringify({ selftest_id: selftestId, correlation_id: correlationId }),
      }),
    ),
  );
}

// A repeated answer finds its token used, a late one finds the step over: both are harmless.
const ANSWERED_BEFORE = ['TaskDoesNotExist', 'TaskTimedOut', 'InvalidToken'];

export async function answerTask(taskToken: string): Promise<void> {
  await unless(ANSWERED_BEFORE, () =>
    stepFunctions().send(new SendTaskSuccessCommand({ taskToken, output: '{}' })),
  );
}

export async function refuseTask(taskToken: string, error: Error): Promise<void> {
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
