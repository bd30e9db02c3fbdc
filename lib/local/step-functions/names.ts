import { ACCOUNT, AwsError, REGION } from '../wire/aws.ts';

const MACHINE_ARN = /^arn:aws:states:[a-z0-9-]+:\d{12}:stateMachine:[^:]+$/;
const EXECUTION_ARN = /^arn:aws:states:[a-z0-9-]+:\d{12}:execution:[^:]+:[^:]+$/;
const NAME_LENGTH_MAX = 80;
// eslint-disable-next-line no-control-regex -- AWS refuses control characters in names
const NAME_REFUSED = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]/;

/** Stands in for a machine that cannot be told, so that IAM still has something to be asked about. */
export const UNKNOWN_MACHINE_ARN = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:unknown`;

export function executionArn(machineArn: string, name: string): string {
  return `${machineArn.replace(':stateMachine:', ':execution:')}:${name}`;
}

export function isMachineArn(text: string): boolean {
  return MACHINE_ARN.test(text);
}

export function checkMachineArn(text: string): void {
  if (!isMachineArn(text)) throw invalidArn(text, 'state machine');
}

export function checkExecutionArn(text: string): void {
  if (!EXECUTION_ARN.test(text)) throw invalidArn(text, 'execution');
}

export function checkExecutionName(name: string): void {
  if (name.length > 0 && name.length <= NAME_LENGTH_MAX && !NAME_REFUSED.test(name)) return;
  throw new AwsError('InvalidName', `Invalid Name: '${name}'`);
}

function invalidArn(text: string, wanted: string): AwsError {
  return new AwsError('InvalidArn', `Invalid Arn: '${text}' is not the ARN of a ${wanted}`);
}
