import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import {
  ARTIFACT_PARTITIONS,
  CONTENT_PARTITIONS,
  projectArtifacts,
  TRUST_PARTITION,
} from '../functions/artifacts/keys.ts';
import { APP_PARTITIONS, CATALOG_PARTITION } from '../functions/catalog/keys.ts';
import { PROJECT_PARTITIONS } from '../functions/platform/data/keys.ts';
import { REPOSITORY_PARTITION } from '../functions/storage/keys.ts';
import { PROMOTION_POLICY_PARTITION, promotionPartitions } from '../functions/promotion/keys.ts';
import { acknowledgeWide } from './acknowledge.ts';
import { appRepositoriesArn, registryLogin } from './app-repositories.ts';
import type { DataStack } from './data-stack.ts';
import { grantItems } from './grants.ts';
import type { Kernel } from './kernel.ts';
import { PlatformFunction } from './platform-function.ts';
import { Promotion } from './promotion.ts';
import { Reactions } from './reactions.ts';
import { StopInstances } from './stop-instances.ts';
import { ANY_RESOURCE, PREFIXES } from './wildcards.ts';

/** What is published lies below its project. */
const FILES = 'projects/*';

const ARTIFACT_PROMOTIONS = promotionPartitions('artifact');

export interface ArtifactsProps {
  kernel: Kernel;
  data: Pick<DataStack, 'artifacts' | 'repository'>;
}

/** What apps are made of: images and files, where they lie, and whether they are trusted. */
export class Artifacts extends Construct {
  readonly api: PlatformFunction;
  /** Where files lie. */
  readonly bucketName: string;
  private readonly data: ArtifactsProps['data'];

  constructor(scope: Construct, id: string, { kernel, data }: ArtifactsProps) {
    super(scope, id);
    this.data = data;
    this.bucketName = data.artifacts.bucketName;
    const { control } = kernel;
    this.api = new PlatformFunction(this, 'Api', {
      entry: 'functions/artifacts/api.ts',
      description: 'Answers requests about artifacts: registration, trust, promotion and revocation.',
      memoryMb: 1024,
      // A registry gets 20 seconds to answer, and the gateway waits for 30.
      timeoutSeconds: 28,
      concurrencyMax: 50,
      environment: { ...kernel.environment, ARTIFACTS_BUCKET: data.artifacts.bucketName },
    });
    kernel.grant(this.api);
    grantItems(this.api, control, {
      actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
      partitions: [ARTIFACT_PARTITIONS, CONTENT_PARTITIONS, TRUST_PARTITION],
    });
    // Artifacts are read along with the app they are for, by one request, which one statement has to allow as a whole.
    grantItems(this.api, control, {
      actions: ['BatchGetItem'],
      partitions: [
        ARTIFACT_PARTITIONS,
        CONTENT_PARTITIONS,
        TRUST_PARTITION,
        CATALOG_PARTITION,
        APP_PARTITIONS,
        ARTIFACT_PROMOTIONS,
        PROMOTION_POLICY_PARTITION,
      ],
    });
    grantItems(this.api, control, { actions: ['GetItem', 'UpdateItem'], partitions: [ARTIFACT_PROMOTIONS] });
    // Lost or regained trust is also noted in the app's row, and no version may move in the same moment.
    grantItems(this.api, control, { actions: ['PutItem', 'UpdateItem'], partitions: [CATALOG_PARTITION] });
    grantItems(this.api, control, { actions: ['ConditionCheckItem'], partitions: [APP_PARTITIONS] });
    grantItems(this.api, control, {
      actions: ['Query'],
      partitions: [projectArtifacts('*')],
      index: 'gsi1',
    });
    // Write conditions: the project is not archived, and the repository is not being cleaned.
    grantItems(this.api, control, {
      actions: ['ConditionCheckItem'],
      partitions: [PROJECT_PARTITIONS, REPOSITORY_PARTITION],
    });
    this.grantReadImages(this.api);
    this.grantReadFiles(this.api);

    const reactions = new Reactions(this, 'Reactions', {
      domain: 'artifacts',
      kernel,
      description:
        'Starts promotions of artifacts; ends the promotion of a revoked artifact and has its instances stopped.',
    });
    new StopInstances(this, 'StopInstances', { kernel, reactions });

    const verify = new PlatformFunction(this, 'Verify', {
      entry: 'functions/artifacts/verify-for-promotion.ts',
      description: 'Verifies an artifact before its promotion.',
      memoryMb: 1024,
      // A registry gets 20 seconds to answer.
      timeoutSeconds: 28,
      environment: { CONTROL_TABLE: control.tableName, ARTIFACTS_BUCKET: data.artifacts.bucketName },
    });
    // Its verdict is stored and published like that of a verify request.
    this.grantMove(verify, control);
    kernel.grantTell(verify);
    grantItems(verify, control, { actions: ['Query'], partitions: [TRUST_PARTITION] });
    grantItems(verify, control, { actions: ['PutItem', 'UpdateItem'], partitions: [CATALOG_PARTITION] });
    this.grantReadImages(verify);
    this.grantReadFiles(verify);
    new Promotion(this, 'Promotion', {
      kernel,
      kind: 'artifact',
      domain: 'artifacts',
      gate: verify,
      reactions,
      grantMove: (fn) => this.grantMove(fn, control),
    });
  }

  /** An artifact moves while its version is as it was read, and is retired when nothing runs it. */
  private grantMove(fn: PlatformFunction, control: Kernel['control']): void {
    grantItems(fn, control, {
      actions: ['BatchGetItem'],
      partitions: [ARTIFACT_PARTITIONS, ARTIFACT_PROMOTIONS],
    });
    grantItems(fn, control, {
      actions: ['BatchGetItem'],
      partitions: [CATALOG_PARTITION, APP_PARTITIONS],
    });
    grantItems(fn, control, { actions: ['ConditionCheckItem'], partitions: [APP_PARTITIONS] });
    grantItems(fn, control, { actions: ['Query'], partitions: [CONTENT_PARTITIONS] });
    grantItems(fn, control, {
      actions: ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
      partitions: [ARTIFACT_PARTITIONS],
    });
  }

  /** The right to read what was pushed, and what is attached to it. */
  grantReadImages(fn: PlatformFunction): void {
    this.grantOnRepositories(fn, ['ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer']);
    fn.addToRolePolicy(registryLogin());
  }

  /** The right to read what was uploaded. */
  grantReadFiles(fn: PlatformFunction): void {
    this.grantOnFiles(fn, ['s3:GetObject', 's3:GetObjectVersion'], ['kms:Decrypt']);
    // Without the permission to list the bucket, S3 does not report a missing object as missing.
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['s3:ListBucket', 's3:ListBucketVersions'],
        resources: [this.data.artifacts.bucketArn],
      }),
    );
  }

  /** The right to see everything that was pushed or uploaded, whoever knows of it. */
  grantList(fn: PlatformFunction): void {
    this.grantOnRepositories(fn, ['ecr:DescribeImages', 'ecr:BatchGetImage']);
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['s3:ListBucketVersions'], resources: [this.data.artifacts.bucketArn] }),
    );
  }

  /** The right to remove it for good. */
  grantRemove(fn: PlatformFunction): void {
    this.grantOnRepositories(fn, ['ecr:BatchDeleteImage']);
    this.grantOnFiles(fn, ['s3:DeleteObjectVersion'], []);
  }

  /** The right to sign upload addresses: uploads then use the permissions of this function. */
  grantUpload(fn: PlatformFunction): void {
    this.grantOnFiles(fn, ['s3:PutObject'], ['kms:GenerateDataKey']);
  }

  grantOpenRepositories(fn: PlatformFunction): void {
    this.grantOnRepositories(fn, ['ecr:CreateRepository']);
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['ecr:DescribeRepositories'],
        resources: [this.data.repository.repositoryArn],
      }),
    );
  }

  /** To be cut down further, whenever somebody assumes it. */
  grantPush(role: Role): void {
    role.addToPolicy(
      new PolicyStatement({
        actions: PREFIXES.publishing.actions.slice(),
        resources: [appRepositoriesArn(this)],
      }),
    );
    role.addToPolicy(registryLogin());
    acknowledgeWide(role, '*', ANY_RESOURCE.registryLogin.reason);
    acknowledgeWide(role, appRepositoriesArn(this), PREFIXES.publishing.reason);
  }

  private grantOnRepositories(fn: PlatformFunction, actions: string[]): void {
    fn.addToRolePolicy(new PolicyStatement({ actions, resources: [appRepositoriesArn(this)] }));
    acknowledgeWide(fn.role ?? fn, appRepositoriesArn(this), PREFIXES.appRepositories.reason);
  }

  private grantOnFiles(fn: PlatformFunction, onObjects: string[], onKey: string[]): void {
    const { artifacts } = this.data;
    const files = artifacts.arnForObjects(FILES);
    fn.addToRolePolicy(new PolicyStatement({ actions: onObjects, resources: [files] }));
    if (artifacts.encryptionKey && onKey.length > 0)
      fn.addToRolePolicy(
        new PolicyStatement({ actions: onKey, resources: [artifacts.encryptionKey.keyArn] }),
      );
    acknowledgeWide(fn.role ?? fn, files, PREFIXES.artifactFiles.reason);
  }
}
