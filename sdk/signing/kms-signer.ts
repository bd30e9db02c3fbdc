// A signer whose key never leaves AWS KMS.

import { createHash, createPublicKey } from 'node:crypto';
import {
  GetPublicKeyCommand,
  SignCommand,
  type KMSClient,
  type SigningAlgorithmSpec,
} from '@aws-sdk/client-kms';
import { hashOf, isElliptic, type Algorithm } from './algorithms.ts';
import { readElement, readElements } from './der-reader.ts';
import { openChain, type Signer } from './signer.ts';
import { SigningError } from './signing-error.ts';

const KMS_ALGORITHMS: Record<Algorithm, SigningAlgorithmSpec> = {
  ES256: 'ECDSA_SHA_256',
  ES384: 'ECDSA_SHA_384',
  ES512: 'ECDSA_SHA_512',
  PS256: 'RSASSA_PSS_SHA_256',
  PS384: 'RSASSA_PSS_SHA_384',
  PS512: 'RSASSA_PSS_SHA_512',
};

/** RFC 7518 3.4: how long each of the two numbers is. */
const NUMBER_BYTES: Partial<Record<Algorithm, number>> = { ES256: 32, ES384: 48, ES512: 66 };

/** Asks KMS for the public key first: a chain of another key is told before anything is signed. */
export async function kmsSigner(options: {
  client: KMSClient;
  keyId: string;
  chainPem: string;
}): Promise<Signer> {
  const { client, keyId: KeyId, chainPem } = options;
  const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId })).catch(explain);
  const publicKey = createPublicKey({ key: Buffer.from(PublicKey ?? []), type: 'spki', format: 'der' });
  const { chain, algorithm } = openChain(chainPem, publicKey);
  return {
    algorithm,
    chain,
    async sign(data) {
      // KMS takes 4 KiB at most; a statement may be longer, its digest never is.
      const Message = createHash(hashOf(algorithm)).update(data).digest();
      const SigningAlgorithm = KMS_ALGORITHMS[algorithm];
      const command = new SignCommand({ KeyId, Message, MessageType: 'DIGEST', SigningAlgorithm });
      const { Signature = new Uint8Array() } = await client.send(command).catch(explain);
      return isElliptic(algorithm) ? bareNumbers(Signature, NUMBER_BYTES[algorithm] ?? 0) : Signature;
    },
  };
}

/** What KMS says of itself names no way out. */
function explain(error: unknown): never {
  const { name, message } = error as Error;
  if (/NotFound/.test(name)) {
    throw new SigningError(
      'not_found',
      `KMS did not find the key (${message}).`,
      'Check its id and AWS_REGION.',
    );
  }
  if (/AccessDenied|Credentials|Token|UnrecognizedClient/.test(name)) {
    const advice = 'Log in to AWS with a role that may kms:GetPublicKey and kms:Sign with this key.';
    throw new SigningError('auth', `KMS refused (${message}).`, advice);
  }
  throw new SigningError(
    'failed',
    `KMS did not sign (${message}).`,
    'Try again; check that the key is enabled.',
  );
}

/** KMS answers with the DER of RFC 3279 2.2.3; a JWS wants the two numbers one after the other. */
function bareNumbers(signature: Uint8Array, bytes: number): Buffer {
  const numbers = readElements(readElement(signature).content).map(({ content }) => {
    const digits = Buffer.concat([Buffer.alloc(bytes), content]);
    return digits.subarray(digits.length - bytes);
  });
  return Buffer.concat(numbers);
}
