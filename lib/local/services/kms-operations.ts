import {
  createHmac,
  createPublicKey,
  constants,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { ACCOUNT, AwsError } from '../wire/aws.ts';
import { seal, unseal } from '../journal/seal.ts';
import { signDigestP256, signDigestPss, verifyDigestP256, verifyDigestPss } from './kms-digest.ts';
import { privateKeyOf, type KeySpec, type KeyUsage, type KmsKey } from './kms-keys.ts';

/** The JSON of a KMS request. */
export type Body = Record<string, unknown>;

const MESSAGE_BYTES_MAX = 4096;
const BLOB_VERSION = 1;

const signingAlgorithms: Partial<Record<KeySpec, string>> = {
  ECC_NIST_P256: 'ECDSA_SHA_256',
  RSA_2048: 'RSASSA_PSS_SHA_256',
  RSA_3072: 'RSASSA_PSS_SHA_256',
};

/** Every operation hosted here; each acts with one key. */
export const operations = new Map<string, (key: KmsKey, body: Body) => object>([
  ['DescribeKey', (key) => ({ KeyMetadata: describe(key) })],
  ['GetPublicKey', publicKey],
  ['Sign', signMessage],
  ['Verify', verifyMessage],
  ['Encrypt', (key, body) => encrypt(key, bytes(body, 'Plaintext', MESSAGE_BYTES_MAX), body)],
  ['Decrypt', decrypt],
  ['GenerateDataKey', generateDataKey],
  [
    'GenerateDataKeyWithoutPlaintext',
    (key, body) => ({ ...generateDataKey(key, body), Plaintext: undefined }),
  ],
  [
    'GenerateMac',
    (key, body) => ({ KeyId: key.arn, MacAlgorithm: 'HMAC_SHA_256', Mac: mac(key, body).toString('base64') }),
  ],
  ['VerifyMac', verifyMac],
]);

function describe(key: KmsKey): object {
  const algorithm = signingAlgorithms[key.spec];
  return {
    AWSAccountId: ACCOUNT,
    KeyId: key.id,
    Arn: key.arn,
    CreationDate: key.createdAt.getTime() / 1000,
    Enabled: true,
    Description: '',
    KeyUsage: key.usage,
    KeyState: 'Enabled',
    Origin: 'AWS_KMS',
    KeyManager: 'CUSTOMER',
    KeySpec: key.spec,
    CustomerMasterKeySpec: key.spec,
    MultiRegion: false,
    ...(algorithm !== undefined && { SigningAlgorithms: [algorithm] }),
    ...(key.usage === 'ENCRYPT_DECRYPT' && { EncryptionAlgorithms: ['SYMMETRIC_DEFAULT'] }),
    ...(key.usage === 'GENERATE_VERIFY_MAC' && { MacAlgorithms: ['HMAC_SHA_256'] }),
  };
}

function publicKey(key: KmsKey): object {
  const algorithm = signingAlgorithms[key.spec];
  if (algorithm === undefined) {
    throw new AwsError('UnsupportedOperationException', `${key.arn} is ${key.spec} and has no public key.`);
  }
  const der = createPublicKey(privateKeyOf(key)).export({ format: 'der', type: 'spki' });
  return {
    KeyId: key.arn,
    PublicKey: der.toString('base64'),
    KeySpec: key.spec,
    CustomerMasterKeySpec: key.spec,
    KeyUsage: key.usage,
    SigningAlgorithms: [algorithm],
  };
}

function signMessage(key: KmsKey, body: Body): object {
  const { message, isDigest, algorithm } = readSigning(key, body);
  const privateKey = privateKeyOf(key);
  const isEc = key.spec === 'ECC_NIST_P256';
  const signature = isDigest
    ? isEc
      ? signDigestP256(privateKey, message)
      : signDigestPss(privateKey, message)
    : sign('sha256', message, isEc ? privateKey : { key: privateKey, ...pss });
  return { KeyId: key.arn, Signature: signature.toString('base64'), SigningAlgorithm: algorithm };
}

function verifyMessage(key: KmsKey, body: Body): object {
  const { message, isDigest, algorithm } = readSigning(key, body);
  const signature = bytes(body, 'Signature', 6144);
  const verifying = createPublicKey(privateKeyOf(key));
  const isEc = key.spec === 'ECC_NIST_P256';
  const isValid = isDigest
    ? isEc
      ? verifyDigestP256(verifying, message, signature)
      : verifyDigestPss(verifying, message, signature)
    : verify('sha256', message, isEc ? verifying : { key: verifying, ...pss }, signature);
  if (!isValid)
    throw new AwsError('KMSInvalidSignatureException', 'The signature is not that of the message.');
  return { KeyId: key.arn, SignatureValid: true, SigningAlgorithm: algorithm };
}

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

function readSigning(key: KmsKey, body: Body): { message: Buffer; isDigest: boolean; algorithm: string } {
  requireUsage(key, 'SIGN_VERIFY');
  const algorithm = signingAlgorithms[key.spec];
  if (algorithm === undefined || body['SigningAlgorithm'] !== algorithm) {
    throw new AwsError(
      'InvalidKeyUsageException',
      `${key.spec} signs with ${algorithm}, not ${String(body['SigningAlgorithm'])}.`,
    );
  }
  const isDigest = body['MessageType'] === 'DIGEST';
  const message = bytes(body, 'Message', MESSAGE_BYTES_MAX);
  if (isDigest && message.length !== 32)
    throw invalid('Digest is invalid length for algorithm: 32 bytes are needed.');
  return { message, isDigest, algorithm };
}

function encrypt(key: KmsKey, plaintext: Buffer, body: Body): object {
  requireUsage(key, 'ENCRYPT_DECRYPT');
  const id = Buffer.from(key.id);
  const sealed = seal(key.material, plaintext, bindingOf(body));
  const blob = Buffer.concat([Buffer.from([BLOB_VERSION, id.length]), id, sealed]);
  return {
    KeyId: key.arn,
    CiphertextBlob: blob.toString('base64'),
    EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
  };
}

function decrypt(key: KmsKey, body: Body): object {
  const plaintext = unseal(key.material, readBlob(body).sealed, bindingOf(body));
  if (plaintext === undefined || key.usage !== 'ENCRYPT_DECRYPT') throw invalidCiphertext();
  return {
    KeyId: key.arn,
    Plaintext: plaintext.toString('base64'),
    EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
  };
}

function generateDataKey(key: KmsKey, body: Body): object {
  const size = body['NumberOfBytes'] ?? { AES_256: 32, AES_128: 16 }[String(body['KeySpec'])];
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 1 || size > 1024) {
    throw invalid('KeySpec must be AES_256 or AES_128, or NumberOfBytes from 1 to 1024.');
  }
  const dataKey = randomBytes(size);
  return { ...encrypt(key, dataKey, body), Plaintext: dataKey.toString('base64') };
}

function mac(key: KmsKey, body: Body): Buffer {
  requireUsage(key, 'GENERATE_VERIFY_MAC');
  if (body['MacAlgorithm'] !== 'HMAC_SHA_256') throw invalid('MacAlgorithm must be HMAC_SHA_256.');
  return createHmac('sha256', key.material)
    .update(bytes(body, 'Message', MESSAGE_BYTES_MAX))
    .digest();
}

function verifyMac(key: KmsKey, body: Body): object {
  const expected = mac(key, body);
  const given = bytes(body, 'Mac', 6144);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new AwsError('KMSInvalidMacException', 'The HMAC is not that of the message.');
  }
  return { KeyId: key.arn, MacValid: true, MacAlgorithm: 'HMAC_SHA_256' };
}

/** The encryption context in one spelling, whatever the order its pairs were sent in. */
function bindingOf(body: Body): string {
  return JSON.stringify(Object.entries(encryptionContext(body)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function encryptionContext(body: Body): Record<string, string> {
  const context = body['EncryptionContext'] ?? {};
  if (typeof context === 'object' && Object.values(context).every((value) => typeof value === 'string')) {
    return context as Record<string, string>;
  }
  throw invalid('EncryptionContext must map strings to strings.');
}

export function readBlob(body: Body): { keyId: string; sealed: Buffer } {
  const blob = bytes(body, 'CiphertextBlob', 6144);
  const idBytes = blob[1] ?? 0;
  if (blob[0] !== BLOB_VERSION || blob.length <= 2 + idBytes) throw invalidCiphertext();
  return { keyId: blob.toString('utf8', 2, 2 + idBytes), sealed: blob.subarray(2 + idBytes) };
}

function bytes(body: Body, name: string, bytesMax: number): Buffer {
  const value = body[name];
  const decoded = typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0);
  if (decoded.length === 0 || decoded.length > bytesMax)
    throw invalid(`${name} must have from 1 to ${bytesMax} bytes.`);
  return decoded;
}

function requireUsage(key: KmsKey, usage: KeyUsage): void {
  if (key.usage === usage) return;
  throw new AwsError(
    'InvalidKeyUsageException',
    `${key.arn} key usage is ${key.usage}, which is not valid for this operation.`,
  );
}

export function invalidCiphertext(): AwsError {
  return new AwsError(
    'InvalidCiphertextException',
    'The ciphertext is not one of ours, was changed, or belongs to another encryption context.',
  );
}

function invalid(message: string): AwsError {
  return new AwsError('ValidationException', message);
}
