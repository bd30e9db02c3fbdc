import { ACCOUNT, REGION, type PolicyStatement } from '../wire/aws.ts';
import type { Declared } from '../template/template.ts';
import { fingerprintUuid, physicalName, type ResourceKind } from './kind.ts';

const functionArn = (name: string): string =>
  name.startsWith('arn:') ? name : `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`;
const functionName = (nameOrArn: string): string =>
  nameOrArn.split(':')[nameOrArn.startsWith('arn:') ? 6 : 0] ?? nameOrArn;

// What AWS takes where the template is silent.
const TIMEOUT_SECONDS = 3;
const MEMORY_MB = 128;
const ASYNC_RETRIES = 2;
const ASYNC_AGE_SECONDS = 6 * 60 * 60;

export const lambdaFunction: ResourceKind = {
  type: 'AWS::Lambda::Function',
  honoured: [
    'FunctionName',
    'Code',
    'Handler',
    'Runtime',
    'Environment',
    'Timeout',
    'MemorySize',
    'Role',
    'ReservedConcurrentExecutions',
  ],
  ignored: [
    'Architectures',
    'Description',
    'KmsKeyArn',
    'LoggingConfig',
    'TracingConfig',
    'RecursiveLoop',
    'Tags',
  ],
  identify(resource) {
    const name = physicalName(resource, 'FunctionName', 64);
    return { ref: name, attributes: { Arn: functionArn(name) } };
  },
  plan(resource, plan) {
    const { properties, identity } = resource;
    const runtime = String(properties['Runtime']);
    if (!runtime.startsWith('nodejs'))
      throw new Error(
        `${resource.stack}/${resource.logicalId} runs on ${runtime}; the local engine runs Node.js functions.`,
      );
    plan.functions.set(identity.ref, {
      name: identity.ref,
      arn: functionArn(identity.ref),
      roleArn: properties['Role'] as string,
      codeDir: codeFolder(resource),
      handler: properties['Handler'] as string,
      environment:
        (properties['Environment'] as { Variables?: Record<string, string> } | undefined)?.Variables ?? {},
      timeoutSeconds: Number(properties['Timeout'] ?? TIMEOUT_SECONDS),
      memoryMb: Number(properties['MemorySize'] ?? MEMORY_MB),
      reservedConcurrency: properties['ReservedConcurrentExecutions'] as number | undefined,
      asyncRetriesMax: ASYNC_RETRIES,
      asyncAgeSecondsMax: ASYNC_AGE_SECONDS,
    });
  },
};

export const eventInvokeConfig: ResourceKind = {
  type: 'AWS::Lambda::EventInvokeConfig',
  honoured: ['FunctionName', 'MaximumRetryAttempts', 'MaximumEventAgeInSeconds', 'DestinationConfig'],
  ignored: ['Qualifier'],
  identify: (resource) => ({ ref: resource.logicalId }),
  plan({ properties }, plan) {
    plan.asyncConfigs.set(functionName(properties['FunctionName'] as string), {
      asyncRetriesMax: Number(properties['MaximumRetryAttempts'] ?? ASYNC_RETRIES),
      asyncAgeSecondsMax: Number(properties['MaximumEventAgeInSeconds'] ?? ASYNC_AGE_SECONDS),
      asyncOnFailureArn: onFailure(properties['DestinationConfig']),
    });
  },
};

export const eventSourceMapping: ResourceKind = {
  type: 'AWS::Lambda::EventSourceMapping',
  honoured: [
    'FunctionName',
    'EventSourceArn',
    'Enabled',
    'BatchSize',
    'MaximumBatchingWindowInSeconds',
    'FilterCriteria',
    'FunctionResponseTypes',
    'StartingPosition',
    'BisectBatchOnFunctionError',
    'MaximumRetryAttempts',
    'MaximumRecordAgeInSeconds',
    'DestinationConfig',
    'ScalingConfig',
    'ParallelizationFactor',
  ],
  ignored: ['MetricsConfig', 'Tags'],
  identify: (resource) => ({ ref: fingerprintUuid(`${resource.stack}/${resource.logicalId}`) }),
  plan({ properties, identity }, plan) {
    const sourceArn = properties['EventSourceArn'] as string;
    const filters =
      (properties['FilterCriteria'] as { Filters?: { Pattern: string }[] } | undefined)?.Filters ?? [];
    const endless = -1;
    plan.mappings.push({
      id: identity.ref,
      functionArn: functionArn(properties['FunctionName'] as string),
      sourceArn,
      enabled: properties['Enabled'] !== false,
      batchSize: Number(properties['BatchSize'] ?? (sourceArn.includes(':sqs:') ? 10 : 100)),
      batchWindowSeconds: Number(properties['MaximumBatchingWindowInSeconds'] ?? 0),
      filters: filters.map((filter) => JSON.parse(filter.Pattern) as unknown),
      reportBatchItemFailures: ((properties['FunctionResponseTypes'] as string[] | undefined) ?? []).includes(
        'ReportBatchItemFailures',
      ),
      maximumConcurrency: (properties['ScalingConfig'] as { MaximumConcurrency?: number } | undefined)
        ?.MaximumConcurrency,
      startingPosition: properties['StartingPosition'] as 'TRIM_HORIZON' | 'LATEST' | undefined,
      bisectOnError: properties['BisectBatchOnFunctionError'] === true,
      retriesMax: Number(properties['MaximumRetryAttempts'] ?? endless),
      recordAgeSecondsMax: Number(properties['MaximumRecordAgeInSeconds'] ?? endless),
      parallelizationFactor: Number(properties['ParallelizationFactor'] ?? 1),
      onFailureArn: onFailure(properties['DestinationConfig']),
    });
  },
};

export const permission: ResourceKind = {
  type: 'AWS::Lambda::Permission',
  honoured: ['FunctionName', 'Action', 'Principal', 'SourceArn', 'SourceAccount'],
  ignored: [],
  identify: (resource) => ({ ref: resource.logicalId }),
  plan({ properties }, plan) {
    const resource = functionArn(properties['FunctionName'] as string);
    const principal = properties['Principal'] as string;
    const { SourceArn, SourceAccount } = properties;
    const statement: PolicyStatement = {
      Effect: 'Allow',
      Principal: principal.endsWith('.amazonaws.com') ? { Service: principal } : { AWS: principal },
      Action: properties['Action'],
      Resource: resource,
      Condition: {
        ...(SourceArn === undefined ? {} : { ArnLike: { 'aws:SourceArn': SourceArn } }),
        ...(SourceAccount === undefined ? {} : { StringEquals: { 'aws:SourceAccount': SourceAccount } }),
      },
    };
    plan.allowOn(resource, [statement]);
  },
};

function codeFolder(resource: Declared): string {
  const code = resource.properties['Code'] as { S3Key?: string };
  const folder = code.S3Key === undefined ? undefined : resource.assets.get(code.S3Key);
  if (folder === undefined)
    throw new Error(
      `The code of ${resource.stack}/${resource.logicalId} is not a file asset of this assembly.`,
    );
  return folder;
}

function onFailure(config: unknown): string | undefined {
  return (config as { OnFailure?: { Destination?: string } } | undefined)?.OnFailure?.Destination;
}
