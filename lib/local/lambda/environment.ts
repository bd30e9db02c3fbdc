import { REGION } from '../wire/aws.ts';
import type { AwsCredentials } from '../iam/principals.ts';
import type { FunctionSpec } from './functions.ts';

export const logGroupName = (functionName: string) => `/aws/lambda/${functionName}`;

/** The template's variables and what Lambda sets itself: nothing of the process we run in. */
export function functionEnvironment(
  spec: FunctionSpec,
  endpoint: string,
  credentials: AwsCredentials,
  logStreamName: string,
): Record<string, string> {
  return {
    // A function may set these; the rest it may not, there or here.
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: ':UTC',
    ...spec.environment,
    _HANDLER: spec.handler,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...(credentials.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: credentials.sessionToken }),
    AWS_DEFAULT_REGION: REGION,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMb),
    AWS_LAMBDA_FUNCTION_NAME: spec.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: logGroupName(spec.name),
    AWS_LAMBDA_LOG_STREAM_NAME: logStreamName,
    AWS_REGION: REGION,
    LAMBDA_TASK_ROOT: spec.codeDir,
    // What makes the SDK come to this machine, and to nothing else that may be configured on it.
    AWS_ENDPOINT_URL: endpoint,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  };
}
