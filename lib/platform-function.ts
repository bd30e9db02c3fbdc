import { basename, dirname } from 'node:path';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Variable } from '../functions/platform/environment.ts';
import { acknowledgeWide } from './acknowledge.ts';
import { bundledCode, type Entry } from './bundle.ts';
import { configOf } from './config.ts';
import { ANY_RESOURCE } from './wildcards.ts';

export interface PlatformFunctionProps {
  entry: Entry;
  description: string;
  environment?: Partial<Record<Variable, string>>;
  timeoutSeconds?: number;
  memoryMb?: number;
  /** At most this many at once, where a stampede would hurt what stands behind the function, if the deployment reserves. */
  concurrencyMax?: number;
}

/** A Lambda function with a role, a log and grants of its own: it starts with the right to write its log and trace. */
export class PlatformFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: PlatformFunctionProps) {
    const functionName = nameOf(scope, props.entry);
    const { logRetentionDays, reservedConcurrency } = configOf(scope);
    const logGroup = new LogGroup(scope, `${id}Log`, {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    role.addToPolicy(
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    acknowledgeWide(role, '*', ANY_RESOURCE.tracing.reason);

    super(scope, id, {
      functionName,
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: bundledCode(scope, props.entry),
      handler: 'index.handler',
      role,
      logGroup,
      tracing: Tracing.ACTIVE,
      timeout: Duration.seconds(props.timeoutSeconds ?? 10),
      memorySize: props.memoryMb ?? 512,
      environment: props.environment,
      reservedConcurrentExecutions: reservedConcurrency ? props.concurrencyMax : undefined,
    });
  }
}

const NAME_CHARACTERS_MAX = 64;

// People meet this name in metrics, logs and the console: it says which file runs.
function nameOf(scope: Construct, entry: Entry): string {
  const name = [Stack.of(scope).stackName, basename(dirname(entry)), basename(entry, '.ts')].join('-');
  if (name.length > NAME_CHARACTERS_MAX) throw new Error(`The function name ${name} is too long for Lambda.`);
  return name;
}
