// A process of its own that writes versions without end, to be killed while it does. Prints a line for each that was
// answered: its id and its body.
import {
  CreateBucketCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { openAwsServices } from './aws-services-world.ts';

const Bucket = 'kept';
const world = await openAwsServices({ dataDir: process.argv[2] ?? '' });
const client = new S3Client(world.asOperator());
await client.send(new CreateBucketCommand({ Bucket }));
await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));

const writeOn = async (Key: string): Promise<never> => {
  for (let n = 0; ; n += 1) {
    const body = `${Key} ${n} `.repeat(1_000);
    const { VersionId } = await client.send(new PutObjectCommand({ Bucket, Key, Body: body }));
    process.stdout.write(`${JSON.stringify({ version: VersionId, body })}\n`);
  }
};
await Promise.all(['a', 'b', 'a', 'c'].map(writeOn));
