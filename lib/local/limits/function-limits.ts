import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Resource } from './deployed.ts';
import { bytes, count, type Limit } from './limit.ts';

const FUNCTION = 'AWS::Lambda::Function';
const QUOTAS = 'https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html';
const VARIABLES = 'https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html';
const CONCURRENCY = 'https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html';

const ENVIRONMENT_BYTES_MAX = 4096;
const CODE_BYTES_MAX = 250 * 1024 * 1024;
const POLICY_BYTES_MAX = 20 * 1024;
/** Lambda keeps so many executions for functions that reserve none. */
const UNRESERVED_MIN = 100;

const RESERVED_NAMES = new Set([
  '_HANDLER',
  '_X_AMZN_TRACE_ID',
  'AWS_ACCESS_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_DEFAULT_REGION',
  'AWS_EXECUTION_ENV',
  'AWS_LAMBDA_FUNCTION_MEMORY_SIZE',
  'AWS_LAMBDA_FUNCTION_NAME',
  'AWS_LAMBDA_FUNCTION_VERSION',
  'AWS_LAMBDA_INITIALIZATION_TYPE',
  'AWS_LAMBDA_LOG_GROUP_NAME',
  'AWS_LAMBDA_LOG_STREAM_NAME',
  'AWS_LAMBDA_RUNTIME_API',
  'AWS_REGION',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'LAMBDA_RUNTIME_DIR',
  'LAMBDA_TASK_ROOT',
]);

const variables = ({ properties }: Resource): Record<string, unknown> =>
  properties['Environment']?.Variables ?? {};

const environmentSize: Limit = {
  name: 'size of an environment',
  source: VARIABLES,
  check: (deployed) =>
    deployed.ofType(FUNCTION).flatMap((fn) => {
      // Lambda measures names and values as one JSON text.
      const size = bytes(variables(fn));
      if (size <= ENVIRONMENT_BYTES_MAX) return [];
      return [
        `${fn.name}: its environment has ${count(size)} bytes; a function has at most 4 KB. Read the rest from elsewhere.`,
      ];
    }),
};

const environmentNames: Limit = {
  name: 'names in an environment',
  source: VARIABLES,
  check: (deployed) =>
    deployed.ofType(FUNCTION).flatMap((fn) =>
      Object.keys(variables(fn)).flatMap((name) => {
        if (RESERVED_NAMES.has(name)) return [`${fn.name}: Lambda sets ${name} itself. Use another name.`];
        if (/^[a-z]\w+$/i.test(name)) return [];
        return [
          `${fn.name}: ${name} cannot be a variable. Use a letter, then letters, digits and underscores.`,
        ];
      }),
    ),
};

const codeSize: Limit = {
  name: 'size of code',
  source: QUOTAS,
  check: (deployed) =>
    deployed.ofType(FUNCTION).flatMap(({ name, properties, assets }) => {
      const folder = assets.get(properties['Code']?.S3Key);
      const size = folder === undefined ? 0 : sizeOf(folder);
      if (size <= CODE_BYTES_MAX) return [];
      return [`${name}: its code has ${count(size)} bytes; a function has at most 250 MB, unzipped.`];
    }),
};

const resourcePolicySize: Limit = {
  name: 'size of a function’s policy',
  source: QUOTAS,
  check: (deployed) =>
    deployed.ofType(FUNCTION).flatMap((fn) => {
      const statements = deployed
        .ofType('AWS::Lambda::Permission')
        .filter(({ properties }) => deployed.named(properties['FunctionName']) === fn)
        .map(({ name, properties: { Action, Principal, SourceArn, SourceAccount } }) => ({
          Sid: `${name}-0123456789AB`,
          Effect: 'Allow',
          Principal: { Service: Principal },
          Action,
          Resource: fn.arn,
          Condition: {
            ...(SourceAccount && { StringEquals: { 'AWS:SourceAccount': SourceAccount } }),
            ...(SourceArn && { ArnLike: { 'AWS:SourceArn': SourceArn } }),
          },
        }));
      const size = bytes({ Version: '2012-10-17', Id: 'default', Statement: statements });
      if (size <= POLICY_BYTES_MAX) return [];
      return [
        `${fn.name}: its ${statements.length} permissions have ${count(size)} bytes; a function’s policy has at most 20 KB. Allow more with one permission.`,
      ];
    }),
};

/** The account's quota is adjustable, and lower in a new account. */
export const reservedConcurrency = (quota: number): Limit => ({
  name: 'reserved concurrency',
  source: CONCURRENCY,
  check: (deployed) => {
    const reserved = deployed
      .ofType(FUNCTION)
      .reduce((sum, { properties }) => sum + Number(properties['ReservedConcurrentExecutions'] ?? 0), 0);
    if (reserved === 0 || reserved <= quota - UNRESERVED_MIN) return [];
    return [
      `The functions reserve ${count(reserved)} of ${count(quota)} concurrent executions; ${UNRESERVED_MIN} must stay unreserved. ` +
        'Reserve less, or ask AWS for a higher quota and state it with -c lambda_concurrency_quota.',
    ];
  },
});

function sizeOf(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, entry) => sum + sizeOf(join(path, entry)), 0);
}

export const functionLimits = [environmentSize, environmentNames, codeSize, resourcePolicySize];
