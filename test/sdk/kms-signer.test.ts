import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetPublicKeyCommand, KMSClient, type SignCommand } from '@aws-sdk/client-kms';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODE_SIGNING, issueCertificate, toPem } from '../../sdk/signing/certificates.ts';
import { inspectEnvelope } from '../../sdk/signing/inspect-envelope.ts';
import { kmsSigner } from '../../sdk/signing/kms-signer.ts';
import { signDescriptor } from '../../sdk/signing/notation.ts';
import type { Signer } from '../../sdk/signing/signer.ts';
import { allow, openAwsServices, type AwsServices } from '../local/services/aws-services-world.ts';

const arn = (id: string) => `arn:aws:kms:us-east-1:000000000000:key/${id}`;
/** A number that begins with zeros is shorter in DER: of P-256 one in 128, of P-521 every other. */
const ROUNDS = 100;
const ROUNDS_OF_OPENSSL = 8;

let world: AwsServices;
let client: KMSClient;
const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });

beforeAll(async () => {
  world = await openAwsServices();
  client = new KMSClient(world.asOperator());
});

const folder = mkdtempSync(join(tmpdir(), 'kms-'));

afterAll(async () => {
  await world?.close();
  rmSync(folder, { recursive: true });
});

function putKey(id: string, keySpec: string): void {
  world.kms.createKey({ id, keySpec, keyUsage: 'SIGN_VERIFY' });
  const Principal = { AWS: 'arn:aws:iam::000000000000:root' };
  const Statement = { Effect: 'Allow', Principal, Action: 'kms:*', Resource: '*' } as const;
  world.iam.putResourcePolicy(arn(id), { Statement });
}

/** As an authority certifies a key whose private half it never sees. */
async function chainFor(keyId: string): Promise<string> {
  const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId: keyId }));
  return chainOf(createPublicKey({ key: Buffer.from(PublicKey ?? []), type: 'spki', format: 'der' }));
}

function chainOf(publicKey: KeyObject): string {
  const validity = {
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2036-01-01T00:00:00Z'),
  };
  const authority = { isCa: true, keyUsage: ['keyCertSign' as const], ...root };
  const issuer = { subject: 'CN=root', privateKey: root.privateKey };
  const uses = { keyUsage: ['digitalSignature' as const], extendedKeyUsage: [CODE_SIGNING] };
  const leaf = issueCertificate({ subject: 'CN=kms', publicKey, issuer, ...uses, ...validity });
  return toPem(leaf) + toPem(issueCertificate({ subject: 'CN=root', ...authority, ...validity }));
}

async function expectGoodSignatures(signer: Signer, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const subject = {
      mediaType: 'application/octet-stream',
      digest: `sha256:${'0'.repeat(64)}`,
      size: round,
    };
    const envelope = await signDescriptor(subject, signer, { signedAt: new Date() });
    expect(inspectEnvelope(envelope)).toMatchObject({ signature_fits: true, target: { size: round } });
  }
}

test.each([
  ['ECC_NIST_P256', 'ES256', ROUNDS],
  ['RSA_2048', 'PS256', 1],
] as const)('a %s key in KMS signs %s', async (keySpec, algorithm, rounds) => {
  const keyId = keySpec.toLowerCase();
  putKey(keyId, keySpec);
  const signer = await kmsSigner({ client, keyId, chainPem: await chainFor(keyId) });
  expect(signer.algorithm).toBe(algorithm);
  await expectGoodSignatures(signer, rounds);
});

/** The engine hosts no larger keys; openssl signs digests as KMS does, and answers in the same encoding. */
function opensslKms(privateKey: KeyObject): KMSClient {
  const keyFile = join(folder, 'key.pem');
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const send = async (command: GetPublicKeyCommand | SignCommand) => {
    if (command instanceof GetPublicKeyCommand) return { PublicKey: publicKey };
    const { Message, SigningAlgorithm = '' } = command.input;
    const pss = ['rsa_padding_mode:pss', 'rsa_pss_saltlen:digest'];
    const settings = [
      `digest:sha${SigningAlgorithm.slice(-3)}`,
      ...(SigningAlgorithm.startsWith('RSA') ? pss : []),
    ].flatMap((setting) => ['-pkeyopt', setting]);
    const args = ['pkeyutl', '-sign', '-inkey', keyFile, ...settings];
    return { Signature: execFileSync('openssl', args, { input: Message }) };
  };
  return { send } as unknown as KMSClient;
}

test.each([
  ['ES384', ROUNDS_OF_OPENSSL, () => generateKeyPairSync('ec', { namedCurve: 'P-384' })],
  ['ES512', ROUNDS_OF_OPENSSL, () => generateKeyPairSync('ec', { namedCurve: 'P-521' })],
  ['PS384', 1, () => generateKeyPairSync('rsa', { modulusLength: 3072 })],
  ['PS512', 1, () => generateKeyPairSync('rsa', { modulusLength: 4096 })],
] as const)('a larger key signs %s', async (algorithm, rounds, createPair) => {
  const { publicKey, privateKey } = createPair();
  const chainPem = chainOf(publicKey);
  const signer = await kmsSigner({ client: opensslKms(privateKey), keyId: 'large', chainPem });
  expect(signer.algorithm).toBe(algorithm);
  await expectGoodSignatures(signer, rounds);
});

test('a chain of another key is told before anything is signed', async () => {
  putKey('mine', 'ECC_NIST_P256');
  const chainPem = chainOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);
  await expect(kmsSigner({ client, keyId: 'mine', chainPem })).rejects.toThrow('to another key');
});

test('a key that is not there, or not ours, is told as such', async () => {
  putKey('theirs', 'ECC_NIST_P256');
  const chainPem = await chainFor('theirs');
  const absent = kmsSigner({ client, keyId: 'absent', chainPem });
  await expect(absent).rejects.toMatchObject({ kind: 'not_found' });
  const stranger = new KMSClient(world.asRole('stranger', allow('kms:GetPublicKey', arn('theirs'))));
  const signer = await kmsSigner({ client: stranger, keyId: 'theirs', chainPem });
  await expect(signer.sign(Buffer.from('x'))).rejects.toMatchObject({ kind: 'auth' });
});
