import * as v from 'valibot';
import { AwsError } from '../wire/aws.ts';
import type { Json } from './asl.ts';
import type { Machines } from './machine-operations.ts';
import { isMachineArn, UNKNOWN_MACHINE_ARN } from './names.ts';
import { Cause, ErrorName, operation, parseJson, Payload, type Operation } from './operation.ts';
import { Tokens } from './tokens.ts';

const Token = v.pipe(v.string(), v.minLength(1), v.maxLength(2048));

export function taskOperations(machines: Machines, tokens: Tokens): Record<string, Operation> {
  const hosted = (token: string): string => {
    const machineArn = Tokens.machineArn(token);
    if (machineArn === undefined || machines.has(machineArn)) return token;
    throw new AwsError('TaskDoesNotExist', `Task Does Not Exist: '${machineArn}' is not here`);
  };
  return {
    SendTaskSuccess: operation(
      'states:SendTaskSuccess',
      onToken,
      v.object({ taskToken: Token, output: Payload }),
      ({ taskToken, output }) =>
        tokens.give(hosted(taskToken), {
          output: parseJson(output, 'InvalidOutput', 'Invalid Output') as Json,
        }),
    ),
    SendTaskFailure: operation(
      'states:SendTaskFailure',
      onToken,
      v.object({ taskToken: Token, error: ErrorName, cause: Cause }),
      ({ taskToken, error = 'States.TaskFailed', cause }) => tokens.give(hosted(taskToken), { error, cause }),
    ),
    SendTaskHeartbeat: operation(
      'states:SendTaskHeartbeat',
      onToken,
      v.object({ taskToken: Token }),
      ({ taskToken }) => tokens.beat(hosted(taskToken)),
    ),
  };
}

/** IAM has no resource for these three; asking about the token's machine keeps a grant to that machine. */
function onToken({ taskToken }: Record<string, unknown>): string {
  const machineArn = typeof taskToken === 'string' ? Tokens.machineArn(taskToken) : undefined;
  return machineArn !== undefined && isMachineArn(machineArn) ? machineArn : UNKNOWN_MACHINE_ARN;
}
