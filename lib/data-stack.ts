import { CfnOutput, Duration, Fn, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { type CfnRepository, Repository, TagMutability } from 'aws-cdk-lib/aws-ecr';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { configOf } from './config.ts';
import { People } from './people.ts';

/** Project repositories are made at run time, below this name. */
const APP_REPOSITORY_PREFIX = 'gpuaas/apps/';

/**
 * Survives updates and the deletion of the stack, but not a first deployment that failed: what that left behind would
 * have to be removed by hand before the next attempt.
 */
const KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;

/** Data that must never be lost. Nothing here has a fixed name: it could be taken by what an earlier stack has left. */
export class DataStack extends Stack {
  /** State of every domain, its outbox and its audit; the stream publishes. */
  readonly control: Table;
  /** Two, so that rotating is a swap: while one signs, tokens of the other run out. */
  readonly signingKeys: Key[];
  /** Signs what hosts must believe: which artifacts are trusted, and which agent to run. */
  readonly hostKey: Key;
  /** The platform's own images; every deployment has it, so it tells where the registry is. */
  readonly repository: Repository;
  /** What stands before a repository's name in the name of an image. */
  readonly registryHost: string;
  /** Files that apps are made of, each version of each kept. */
  readonly artifacts: Bucket;
  /** Where people sign in, unless the deployment names another issuer. */
  readonly people: People | undefined;

  constructor(scope: Construct, id: string, props: StackProps) {
    super(scope, id, props);

    this.control = this.table('Control', { stream: true, expires: true });
    // Lists answer from the index alone, so it holds whole items.
    this.control.addGlobalSecondaryIndex({
      indexName: 'gsi1',
      partitionKey: { name: 'gsi1pk', type: AttributeType.STRING },
      sortKey: { name: 'gsi1sk', type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
    // Usage records, each written once; the stream prices them.
    this.table('Usage', { stream: true });
    // Ledger entries, append-only. Nothing follows its changes, so it has no stream.
    this.table('Ledger', {});

    const dataKey = new Key(this, 'DataKey', {
      description: 'Encrypts artifacts and sealed replies at rest.',
      enableKeyRotation: true,
      removalPolicy: KEPT,
    });
    this.signingKeys = ['a', 'b'].map(
      (letter) =>
        new Key(this, `TokenSigningKey${letter.toUpperCase()}`, {
          description: 'Signs the tokens the platform issues (ES256). The private half never leaves KMS.',
          keySpec: KeySpec.ECC_NIST_P256,
          keyUsage: KeyUsage.SIGN_VERIFY,
          removalPolicy: KEPT,
        }),
    );
    this.hostKey = new Key(this, 'HostKey', {
      description: 'Signs what hosts are told of trust and of agent releases (ES256).',
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      removalPolicy: KEPT,
    });
    this.people = configOf(this).oidc ? undefined : new People(this, 'People');

    this.artifacts = this.artifactBucket(dataKey);

    this.repository = new Repository(this, 'PlatformRepository', {
      imageTagMutability: TagMutability.IMMUTABLE,
      imageScanOnPush: true,
      removalPolicy: KEPT,
    });
    // As CloudFormation tells it: of the account and the region, and on one machine quite another.
    const { attrRepositoryUri } = this.repository.node.defaultChild as CfnRepository;
    this.registryHost = Fn.select(0, Fn.split('/', attrRepositoryUri));
    new CfnOutput(this, 'AppRepositoryPrefix', { value: APP_REPOSITORY_PREFIX });
  }

  // AWS's own DynamoDB key, not ours: access is logged just the same, it costs nothing a month, and no function
  // needs a KMS grant beside its table grant. A key of ours would add only the power to make the tables unreadable.
  private table(id: string, { stream, expires }: { stream?: boolean; expires?: boolean }): Table {
    return new Table(this, id, {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: configOf(this).deletionProtection,
      removalPolicy: KEPT,
      ...(stream && { stream: StreamViewType.NEW_AND_OLD_IMAGES }),
      ...(expires && { timeToLiveAttribute: 'expires_at' }),
    });
  }

  private artifactBucket(key: Key): Bucket {
    const closed = {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      removalPolicy: KEPT,
    };
    // S3 can deliver access logs only to a bucket under its own key.
    const accessLogs = new Bucket(this, 'AccessLogs', {
      ...closed,
      encryption: BucketEncryption.S3_MANAGED,
      lifecycleRules: [{ expiration: Duration.days(365) }],
    });
    return new Bucket(this, 'Artifacts', {
      ...closed,
      encryption: BucketEncryption.KMS,
      encryptionKey: key,
      // One data key a bucket instead of one an object: a hundredth of the KMS calls.
      bucketKeyEnabled: true,
      versioned: true,
      serverAccessLogsBucket: accessLogs,
      serverAccessLogsPrefix: 'artifacts/',
      lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(7) }],
    });
  }
}
