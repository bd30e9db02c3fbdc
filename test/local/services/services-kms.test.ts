import { createHash, createPublicKey, constants, verify, type KeyObject } from 'node:crypto';
import {
  CreateKeyCommand,
  DecryptCommand,
  DescribeKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  GenerateMacCommand,
  GetPublicKeyCommand,
  KMSClient,
  SignCommand,
  VerifyCommand,
  VerifyMacCommand,
  type SigningAlgorithmSpec,
} from '@aws-sdk/client-kms';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allow, failure, openAwsServices, type AwsServices } from './aws-services-world.ts';

const arn = (id: string) => `arn:aws:kms:us-east-1:000000000000:key/${id}`;
const trustRoot = {
  Statement: {
    Effect: 'Allow',
    Principal: { AWS: 'arn:aws:iam::000000000000:root' },
    Action: 'kms:*',
    Resource: '*',
  },
};

let world: AwsServices;
let operator: KMSClient;

function putKeys(services: AwsServices): void {
  const keys = [
    ['box', 'SYMMETRIC_DEFAULT', 'ENCRYPT_DECRYPT'],
    ['other-box', 'SYMMETRIC_DEFAULT', 'ENCRYPT_DECRYPT'],
    ['es256', 'ECC_NIST_P256', 'SIGN_VERIFY'],
    ['ps256', 'RSA_2048', 'SIGN_VERIFY'],
    ['mac', 'HMAC_256', 'GENERATE_VERIFY_MAC'],
  ] as const;
  for (const [id, keySpec, keyUsage] of keys) {
    expect(services.kms.createKey({ id, keySpec, keyUsage })).toBe(arn(id));
    services.iam.putResourcePolicy(arn(id), trustRoot);
  }
  services.kms.putAlias('alias/box', 'box');
}

beforeAll(async () => {
  world = await openAwsServices();
  operator = new KMSClient(world.asOperator());
  putKeys(world);
});

afterAll(async () => {
  await world?.close();
});

const bytes = (text: string) => Buffer.from(text);
const digest = (message: Uint8Array) => createHash('sha256').update(message).digest();

async function publicKey(KeyId: string): Promise<KeyObject> {
  const { PublicKey } = await operator.send(new GetPublicKeyCommand({ KeyId }));
  return createPublicKey({ key: Buffer.from(PublicKey ?? []), format: 'der', type: 'spki' });
}

describe.each<[string, SigningAlgorithmSpec, object]>([
  ['es256', 'ECDSA_SHA_256', {}],
  ['ps256', 'RSASSA_PSS_SHA_256', { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }],
])('a signature by %s', (KeyId, SigningAlgorithm, padding) => {
  const sign = async (Message: Uint8Array, MessageType: 'RAW' | 'DIGEST') => {
    const { Signature } = await operator.send(
      new SignCommand({ KeyId, Message, MessageType, SigningAlgorithm }),
    );
    return Buffer.from(Signature ?? []);
  };
  const check = (Message: Uint8Array, MessageType: 'RAW' | 'DIGEST', Signature: Uint8Array) =>
    operator.send(new VerifyCommand({ KeyId, Message, MessageType, Signature, SigningAlgorithm }));

  test('is good in the eyes of OpenSSL and of KMS, over a message or over its digest', async () => {
    const key = { key: await publicKey(KeyId), ...padding };
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (message) => {
        for (const type of ['RAW', 'DIGEST'] as const) {
          const signature = await sign(type === 'RAW' ? message : digest(message), type);
          expect(verify('sha256', message, key, signature)).toBe(true);
          expect((await check(message, 'RAW', signature)).SignatureValid).toBe(true);
          expect((await check(digest(message), 'DIGEST', signature)).SignatureValid).toBe(true);
        }
      }),
      { numRuns: 10 },
    );
  });

  test.each(['RAW', 'DIGEST'] as const)('over another %s, changed or cut short, is refused', async (type) => {
    const message = (text: string) => (type === 'RAW' ? bytes(text) : digest(bytes(text)));
    const signature = await sign(message('yes'), type);
    const changed = Buffer.from(signature);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    for (const [text, candidate] of [
      ['no', signature],
      ['yes', changed],
      ['yes', signature.subarray(0, -1)],
      ['yes', bytes('x')],
    ] as const) {
      expect((await failure(check(message(text), type, candidate))).name).toBe(
        'KMSInvalidSignatureException',
      );
    }
  });
});

describe('signing', () => {
  const command = (input: object) =>
    new SignCommand({ KeyId: 'es256', Message: bytes('x'), SigningAlgorithm: 'ECDSA_SHA_256', ...input });

  test.each([
    ['a message of more than 4096 bytes', { Message: Buffer.alloc(4097) }, 'ValidationException'],
    ['a digest that is none', { Message: bytes('x'), MessageType: 'DIGEST' }, 'ValidationException'],
    ['another algorithm', { SigningAlgorithm: 'RSASSA_PSS_SHA_256' }, 'InvalidKeyUsageException'],
    ['a key for something else', { KeyId: 'box' }, 'InvalidKeyUsageException'],
    ['a key that is not there', { KeyId: 'none' }, 'NotFoundException'],
    ['an alias that is not there', { KeyId: 'alias/none' }, 'NotFoundException'],
  ])('%s is refused', async (_what, input, code) => {
    expect((await failure(operator.send(command(input)))).name).toBe(code);
  });
});

describe('encryption', () => {
  const encrypt = (input: { KeyId?: string; EncryptionContext?: Record<string, string> } = {}) =>
    operator.send(new EncryptCommand({ KeyId: 'box', Plaintext: bytes('secret'), ...input }));
  const open = async (input: object) =>
    Buffer.from((await operator.send(new DecryptCommand(input as never))).Plaintext ?? []).toString();

  test.each(['box', arn('box'), 'alias/box', 'arn:aws:kms:us-east-1:000000000000:alias/box'])(
    'with the key as %s is undone without naming it',
    async (KeyId) => {
      const { CiphertextBlob, KeyId: used } = await encrypt({ KeyId });
      expect(used).toBe(arn('box'));
      expect(await open({ CiphertextBlob })).toBe('secret');
    },
  );

  test('holds to the context it was given, in any order', async () => {
    const { CiphertextBlob } = await encrypt({ EncryptionContext: { org: '1', app: 'a' } });
    expect(await open({ CiphertextBlob, EncryptionContext: { app: 'a', org: '1' } })).toBe('secret');
    for (const EncryptionContext of [undefined, { org: '1' }, { org: '2', app: 'a' }]) {
      expect((await failure(open({ CiphertextBlob, EncryptionContext }))).name).toBe(
        'InvalidCiphertextException',
      );
    }
  });

  test('is refused for a ciphertext that was changed or never was one', async () => {
    const { CiphertextBlob = new Uint8Array() } = await encrypt();
    const changed = Buffer.from(CiphertextBlob);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    for (const blob of [
      changed,
      bytes('no ciphertext'),
      Buffer.from([1, 200, 1]),
      CiphertextBlob.subarray(0, 8),
    ]) {
      expect((await failure(open({ CiphertextBlob: blob }))).name).toBe('InvalidCiphertextException');
    }
    expect((await failure(open({ CiphertextBlob, KeyId: 'other-box' }))).name).toBe('IncorrectKeyException');
  });

  test('of a data key gives it both ways', async () => {
    const { Plaintext, CiphertextBlob } = await operator.send(
      new GenerateDataKeyCommand({ KeyId: 'box', KeySpec: 'AES_256' }),
    );
    expect(Plaintext).toHaveLength(32);
    const again = await operator.send(new DecryptCommand({ CiphertextBlob }));
    expect(again.Plaintext).toEqual(Plaintext);
  });
});

test('a message is authenticated', async () => {
  const input = { KeyId: 'mac', MacAlgorithm: 'HMAC_SHA_256' as const };
  const { Mac } = await operator.send(new GenerateMacCommand({ ...input, Message: bytes('x') }));
  expect((await operator.send(new VerifyMacCommand({ ...input, Message: bytes('x'), Mac }))).MacValid).toBe(
    true,
  );
  const error = await failure(operator.send(new VerifyMacCommand({ ...input, Message: bytes('y'), Mac })));
  expect(error.name).toBe('KMSInvalidMacException');
});

test('a key says what it is for', async () => {
  const { KeyMetadata } = await operator.send(new DescribeKeyCommand({ KeyId: 'es256' }));
  expect(KeyMetadata).toMatchObject({
    Arn: arn('es256'),
    KeySpec: 'ECC_NIST_P256',
    KeyUsage: 'SIGN_VERIFY',
    SigningAlgorithms: ['ECDSA_SHA_256'],
  });
  expect((await failure(operator.send(new GetPublicKeyCommand({ KeyId: 'box' })))).name).toBe(
    'UnsupportedOperationException',
  );
  expect((await failure(operator.send(new CreateKeyCommand({})))).message).toContain(
    "no operation 'CreateKey'",
  );
});

describe('permissions', () => {
  const as = (name: string, ...statements: ReturnType<typeof allow>[]) =>
    new KMSClient(world.asRole(name, ...statements));

  test('signing and verifying are granted apart, on the key even when an alias is used', async () => {
    const signer = as('signer', allow('kms:Sign', arn('es256')));
    const message = { KeyId: 'es256', Message: bytes('x'), SigningAlgorithm: 'ECDSA_SHA_256' as const };
    const { Signature } = await signer.send(new SignCommand(message));
    const denied = await failure(signer.send(new VerifyCommand({ ...message, Signature })));
    expect(denied.name).toBe('AccessDeniedException');
    expect(denied.message).toContain(`kms:Verify on resource: ${arn('es256')}`);
    const boxer = as('boxer', allow('kms:Encrypt', arn('box')));
    await boxer.send(new EncryptCommand({ KeyId: 'alias/box', Plaintext: bytes('x') }));
    const other = boxer.send(new EncryptCommand({ KeyId: 'other-box', Plaintext: bytes('x') }));
    expect((await failure(other)).name).toBe('AccessDeniedException');
  });

  test('decrypting is judged by the key in the ciphertext', async () => {
    const { CiphertextBlob } = await operator.send(
      new EncryptCommand({ KeyId: 'other-box', Plaintext: bytes('x') }),
    );
    const denied = await failure(
      as('box-only', allow('kms:Decrypt', arn('box'))).send(new DecryptCommand({ CiphertextBlob })),
    );
    expect(denied.message).toContain(`kms:Decrypt on resource: ${arn('other-box')}`);
  });

  test('a policy may ask for a context', async () => {
    const ofOrg1 = { StringEquals: { 'kms:EncryptionContext:org': '1' } };
    const client = as('org1', allow('kms:Encrypt', arn('box'), ofOrg1));
    const encrypt = (org: string) =>
      client.send(new EncryptCommand({ KeyId: 'box', Plaintext: bytes('x'), EncryptionContext: { org } }));
    await encrypt('1');
    expect((await failure(encrypt('2'))).name).toBe('AccessDeniedException');
  });

  test('a key whose policy trusts nobody is closed even to a role that was granted it', async () => {
    world.kms.createKey({ id: 'closed', keySpec: 'SYMMETRIC_DEFAULT', keyUsage: 'ENCRYPT_DECRYPT' });
    const client = as('granted', allow('kms:*', '*'));
    const denied = await failure(client.send(new EncryptCommand({ KeyId: 'closed', Plaintext: bytes('x') })));
    expect(denied.message).toContain('no resource-based policy allows the kms:Encrypt action');
  });
});

describe('keys', () => {
  test('outlive the process, aliases included, and are made only once', async () => {
    const before = await openAwsServices();
    putKeys(before);
    const client = new KMSClient(before.asOperator());
    const { CiphertextBlob } = await client.send(
      new EncryptCommand({ KeyId: 'alias/box', Plaintext: bytes('kept') }),
    );
    const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId: 'es256' }));
    await before.stop();

    const after = await openAwsServices({ dataDir: before.dataDir });
    try {
      putKeys(after);
      const again = new KMSClient(after.asOperator());
      const { Plaintext } = await again.send(new DecryptCommand({ CiphertextBlob, KeyId: 'alias/box' }));
      expect(Buffer.from(Plaintext ?? []).toString()).toBe('kept');
      expect((await again.send(new GetPublicKeyCommand({ KeyId: 'es256' }))).PublicKey).toEqual(PublicKey);
    } finally {
      await after.close();
    }
  });

  test('of a kind that is not hosted, or that changed, stop the engine with a sentence', () => {
    const create =
      (keySpec: string, keyUsage = 'SIGN_VERIFY') =>
      () =>
        world.kms.createKey({ id: 'es256', keySpec, keyUsage });
    expect(create('ECC_NIST_P521')).toThrow(
      /KMS key es256: ECC_NIST_P521 for SIGN_VERIFY is not hosted here/,
    );
    expect(create('constructor')).toThrow(/is not hosted here/);
    expect(create('RSA_2048', 'ENCRYPT_DECRYPT')).toThrow(/is not hosted here/);
    expect(create('RSA_2048')).toThrow(/is ECC_NIST_P256 and cannot become RSA_2048/);
  });
});
