import {
  ACCOUNT,
  AwsError,
  jsonBody,
  jsonOperation,
  type Access,
  type AwsRequest,
  type Service,
} from '../wire/aws.ts';
import type { Journal } from '../journal/journal.ts';
import { KmsKeys, type KmsKey } from './kms-keys.ts';
import { encryptionContext, invalidCiphertext, operations, readBlob, type Body } from './kms-operations.ts';

export interface KmsService extends Service {
  /** Returns the ARN. The same id again changes nothing. */
  createKey(key: { id: string; keySpec: string; keyUsage: string }): string;
  /** `alias/…` */
  putAlias(name: string, keyId: string): void;
}

export function createKmsService(options: { journal: Journal; masterSecret: Buffer }): KmsService {
  const keys = new KmsKeys(options.journal, options.masterSecret);
  return {
    scope: 'kms',
    protocol: 'json-1.1',
    createKey: (key) => keys.create(key),
    putAlias: (name, keyId) => keys.putAlias(name, keyId),

    access(request): Access[] {
      const operation = jsonOperation(request);
      if (!operations.has(operation)) {
        throw new AwsError('UnknownOperationException', `KMS here has no operation '${operation}'.`);
      }
      const body = readBody(request);
      return [
        {
          action: `kms:${operation}`,
          resource: keyFor(operation, body, keys).arn,
          context: conditionKeys(body),
        },
      ];
    },

    async handle(request) {
      const operation = jsonOperation(request);
      const body = readBody(request);
      const answer = operations.get(operation)?.(keyFor(operation, body, keys), body);
      return {
        status: 200,
        headers: { 'content-type': 'application/x-amz-json-1.1' },
        body: JSON.stringify(answer),
      };
    },
  };
}

/** A ciphertext names the key it was made with; Decrypt may name it too, and then they must agree. */
function keyFor(operation: string, body: Body, keys: KmsKeys): KmsKey {
  if (operation !== 'Decrypt') return keys.find(body['KeyId']);
  const { keyId } = readBlob(body);
  let key: KmsKey;
  try {
    key = keys.find(keyId);
  } catch {
    throw invalidCiphertext();
  }
  if (body['KeyId'] !== undefined && keys.find(body['KeyId']).id !== key.id) {
    throw new AwsError(
      'IncorrectKeyException',
      'The key ID in the request does not identify the CMK that can perform this operation.',
    );
  }
  return key;
}

function conditionKeys(body: Body): Record<string, string | string[]> {
  const context = encryptionContext(body);
  const stated = {
    'kms:SigningAlgorithm': body['SigningAlgorithm'],
    'kms:MessageType': body['MessageType'],
    'kms:MacAlgorithm': body['MacAlgorithm'],
  };
  const alias = typeof body['KeyId'] === 'string' ? /alias\/.*$/.exec(body['KeyId'])?.[0] : undefined;
  return {
    'kms:CallerAccount': ACCOUNT,
    'kms:EncryptionContextKeys': Object.keys(context),
    ...Object.fromEntries(
      Object.entries(context).map(([name, value]) => [`kms:EncryptionContext:${name}`, value]),
    ),
    ...Object.fromEntries(
      Object.entries(stated).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    ),
    ...(alias !== undefined && { 'kms:RequestAlias': alias }),
  };
}

function readBody(request: AwsRequest): Body {
  const body = jsonBody<unknown>(request);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  throw new AwsError('SerializationException', 'The body must be a JSON object.');
}
