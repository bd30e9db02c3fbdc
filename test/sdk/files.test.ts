import { createHash, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetPublicKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODE_SIGNING, issueCertificate, toPem } from '../../sdk/signing/certificates.ts';
import { describeFile, uploadFile, type FileIntent } from '../../sdk/signing/files.ts';
import { inspectEnvelope } from '../../sdk/signing/inspect-envelope.ts';
import { openAwsServices, type AwsServices } from '../local/services/aws-services-world.ts';
import { spawnGpuaas } from './command.ts';

const Bucket = 'artifacts';
const folder = mkdtempSync(join(tmpdir(), 'files-'));
const content = randomBytes(3 * 1024 * 1024);
const file = join(folder, 'weights.bin');
writeFileSync(file, content);
const sha256 = createHash('sha256').update(content).digest();

let world: AwsServices;
let objects: S3Client;

beforeAll(async () => {
  world = await openAwsServices();
  objects = new S3Client(world.asOperator());
  await objects.send(new CreateBucketCommand({ Bucket }));
});

afterAll(async () => {
  await world?.close();
  rmSync(folder, { recursive: true });
});

/** What a publish intent answers with: addresses, and the digest that the upload must have. */
async function intentFor(name: string, digest: Buffer): Promise<FileIntent> {
  const ChecksumSHA256 = digest.toString('base64');
  const address = (Key: string, more: object = {}) =>
    getSignedUrl(objects, new PutObjectCommand({ Bucket, Key, ...more }), {
      unhoistableHeaders: new Set(['x-amz-checksum-sha256']),
    });
  return {
    upload_path: await address(name, { ChecksumSHA256 }),
    signature_upload_path: await address(`${name}.jws.sig`),
    provenance_upload_path: await address(`${name}.intoto.dsse`),
    upload_headers: { 'x-amz-checksum-sha256': ChecksumSHA256 },
  };
}

async function stored(Key: string): Promise<Buffer> {
  const { Body } = await objects.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

test('a file is described by all its bytes', async () => {
  expect(await describeFile(file)).toEqual({
    mediaType: 'application/octet-stream',
    digest: `sha256:${sha256.toString('hex')}`,
    size: content.length,
  });
});

test('a file is signed with a key in KMS and uploaded with what proves it', async () => {
  const id = 'release';
  world.kms.createKey({ id, keySpec: 'ECC_NIST_P256', keyUsage: 'SIGN_VERIFY' });
  const Principal = { AWS: 'arn:aws:iam::000000000000:root' };
  world.iam.putResourcePolicy(`arn:aws:kms:us-east-1:000000000000:key/${id}`, {
    Statement: { Effect: 'Allow', Principal, Action: 'kms:*', Resource: '*' },
  });
  const [chain, intent] = [join(folder, 'chain.pem'), join(folder, 'intent.json')];
  writeFileSync(chain, await chainFor(id));
  writeFileSync(intent, JSON.stringify(await intentFor('weights', sha256)));
  const { credentials, endpoint, region } = world.asOperator();
  const ended = await spawnGpuaas(
    ['artifact', 'sign', file, '--json', '--kms-key', id, '--chain', chain, '--intent', intent],
    {
      env: {
        AWS_ENDPOINT_URL: endpoint,
        AWS_REGION: region,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        ...(credentials.sessionToken !== undefined && { AWS_SESSION_TOKEN: credentials.sessionToken }),
      },
    },
  );
  expect(ended).toMatchObject({ code: 0, err: expect.stringContaining('The file was uploaded') });
  expect(JSON.parse(ended.out)).toMatchObject({ uploaded: true, size_bytes: content.length });
  expect((await stored('weights')).equals(content)).toBe(true);
  expect(inspectEnvelope(await stored('weights.jws.sig'))).toMatchObject({
    signature_fits: true,
    target: { digest: `sha256:${sha256.toString('hex')}` },
  });
});

test('an upload of other bytes than the intent named is refused, without telling its address', async () => {
  const intent = await intentFor('other', createHash('sha256').update('other').digest());
  const uploaded = uploadFile({ path: file, intent, signature: Buffer.from('{}') });
  await expect(uploaded).rejects.toThrow('The object store refused the upload');
  await expect(uploaded).rejects.not.toThrow('http');
});

test('an address that was changed is a matter of rights, and a store that is away is told', async () => {
  const intent = await intentFor('third', sha256);
  const changed = {
    ...intent,
    signature_upload_path: intent.signature_upload_path.replace('third', 'fourth'),
  };
  const denied = uploadFile({ path: file, intent: changed, signature: Buffer.from('{}') });
  await expect(denied).rejects.toMatchObject({ kind: 'auth' });
  const nowhere = { ...intent, signature_upload_path: 'http://127.0.0.1:1/' };
  const away = uploadFile({ path: file, intent: nowhere, signature: Buffer.from('{}') });
  await expect(away).rejects.toThrow('does not answer');
});

test('a file whose signature cannot be uploaded is not uploaded either', async () => {
  const intent = { ...(await intentFor('fifth', sha256)), signature_upload_path: 'http://127.0.0.1:1/' };
  const uploaded = uploadFile({ path: file, intent, signature: Buffer.from('{}') });
  await expect(uploaded).rejects.toThrow('does not answer');
  await expect(stored('fifth')).rejects.toMatchObject({ name: 'NoSuchKey' });
});

/** As an authority certifies a key whose private half it never sees. */
async function chainFor(KeyId: string): Promise<string> {
  const { PublicKey } = await new KMSClient(world.asOperator()).send(new GetPublicKeyCommand({ KeyId }));
  const publicKey = createPublicKey({ key: Buffer.from(PublicKey ?? []), type: 'spki', format: 'der' });
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const validity = {
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2036-01-01T00:00:00Z'),
  };
  const issuer = { subject: 'CN=root', privateKey: root.privateKey };
  const leaf = issueCertificate({
    subject: 'CN=kms',
    publicKey,
    issuer,
    ...validity,
    keyUsage: ['digitalSignature'],
    extendedKeyUsage: [CODE_SIGNING],
  });
  const authority = issueCertificate({
    subject: 'CN=root',
    ...root,
    ...validity,
    isCa: true,
    keyUsage: ['keyCertSign'],
  });
  return toPem(leaf) + toPem(authority);
}
