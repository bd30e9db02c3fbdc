import { Duration } from 'aws-cdk-lib';
import { ArnPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { TRUST_PARTITION } from '../functions/artifacts/keys.ts';
import { CATALOG_PARTITION } from '../functions/catalog/keys.ts';
import { INTENT_PARTITIONS, OPEN_INTENTS } from '../functions/publishing/keys.ts';
import { REPOSITORY_PARTITION } from '../functions/storage/keys.ts';
import type { Artifacts } from './artifacts.ts';
import type { DataStack } from './data-stack.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { ScheduledFunction } from './scheduled-function.ts';

export interface PublishingProps {
  kernel: Kernel;
  /** Its own repository tells where the registry is. */
  data: Pick<DataStack, 'repository'>;
  artifacts: Artifacts;
}

/** Hands out publish credentials, in a function separate from those that read artifacts. */
export class Publishing extends Construct {
  readonly api: PlatformFunction;

  constructor(scope: Construct, id: string, { kernel, data, artifacts }: PublishingProps) {
    super(scope, id);
    const { control } = kernel;
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/publishing/api.ts',
      description: 'Answers requests for publish intents and their credentials.',
      memoryMb: 1024,
      concurrencyMax: 50,
      environment: {
        ...kernel.environment,
        ARTIFACTS_BUCKET: artifacts.bucketName,
        PLATFORM_REPOSITORY: data.repository.repositoryName,
      },
    });
    kernel.grant(this.api);
    grantItems(this.api, control, {
      actions: ['GetItem', 'PutItem', 'UpdateItem'],
      partitions: [INTENT_PARTITIONS],
    });
    grantItems(this.api, control, { actions: ['UpdateItem'], partitions: [REPOSITORY_PARTITION] });
    grantItems(this.api, control, { actions: ['GetItem'], partitions: [CATALOG_PARTITION] });
    grantItems(this.api, control, { actions: ['Query'], partitions: [TRUST_PARTITION] });
    artifacts.grantOpenRepositories(this.api);
    artifacts.grantUpload(this.api);

    // Clients push with a session of this role, limited to one repository.
    const publisher = new Role(this, 'Publisher', {
      description: 'Pushes images; each session is limited to one repository and a few minutes.',
      assumedBy: new ArnPrincipal(this.api.role?.roleArn ?? ''),
    });
    artifacts.grantPush(publisher);
    this.api.addToRolePolicy(
      new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [publisher.roleArn] }),
    );
    this.api.addEnvironment('PUBLISHER_ROLE_ARN', publisher.roleArn);

    const expire = new ScheduledFunction(this, 'Expire', {
      entry: 'functions/publishing/expire-intents.ts',
      description: 'Ends publish intents that were not used in time.',
      every: Duration.minutes(5),
      environment: { CONTROL_TABLE: control.tableName },
    });
    grantItems(expire, control, { actions: ['Query'], partitions: [OPEN_INTENTS], index: 'gsi1' });
    grantItems(expire, control, { actions: ['GetItem', 'UpdateItem'], partitions: [INTENT_PARTITIONS] });
    kernel.grantTell(expire);
  }
}
