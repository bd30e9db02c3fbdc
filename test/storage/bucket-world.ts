import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { allow, openAwsServices } from '../local/services/aws-services-world.ts';
import { vi } from 'vitest';

export const Bucket = 'files';

const arn = `arn:aws:s3:::${Bucket}`;
/** What the functions that read files may do. */
export const READER = [
  allow(['s3:ListBucket', 's3:ListBucketVersions'], arn),
  allow(['s3:GetObject', 's3:GetObjectVersion', 's3:PutObject'], `${arn}/projects/*`),
];
/** And what the one may do that cleans up. */
export const CLEANER = [...READER, allow('s3:DeleteObjectVersion', `${arn}/projects/*`)];

/** The bucket of files, real and with versions, and the functions' code with a role of its own. */
export async function openBucket() {
  const services = await openAwsServices();
  const operator = new S3Client(services.asOperator());
  await operator.send(new CreateBucketCommand({ Bucket }));
  const VersioningConfiguration = { Status: 'Enabled' as const };
  await operator.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));

  return {
    operator,
    url: services.url,
    /** The code as it runs with a role that has these statements. */
    async as(statements: ReturnType<typeof allow>[]) {
      const { credentials } = services.asRole('function', ...statements);
      const variables = {
        AWS_REGION: 'us-east-1',
        AWS_ENDPOINT_URL: services.url,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        AWS_SESSION_TOKEN: credentials.sessionToken ?? '',
        ARTIFACTS_BUCKET: Bucket,
      };
      for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
      // Clients are built from the environment, once.
      vi.resetModules();
      const [store, { findFile }, { findFileEvidence }, { uploadsFor }] = await Promise.all([
        import('../../functions/storage/object-store.ts'),
        import('../../functions/content/find-file.ts'),
        import('../../functions/content/file-evidence.ts'),
        import('../../functions/publishing/file-upload.ts'),
      ]);
      return { ...store, findFile, findFileEvidence, uploadsFor };
    },
    async put(Key: string, Body: string | Buffer, more: object = {}): Promise<string> {
      return (await operator.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))).VersionId ?? '';
    },
    async remove(Key: string, VersionId?: string): Promise<string> {
      return (await operator.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))).VersionId ?? '';
    },
    async close(): Promise<void> {
      vi.unstubAllEnvs();
      await services.close();
    },
  };
}

export type BucketWorld = Awaited<ReturnType<typeof openBucket>>;
export type FileCode = Awaited<ReturnType<BucketWorld['as']>>;
