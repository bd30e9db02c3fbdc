import { createPrivateKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { ACCOUNT, AwsError, REGION } from '../wire/aws.ts';
import type { Journal } from '../journal/journal.ts';
import { deriveKey, seal, unseal } from '../journal/seal.ts';

export type KeySpec = 'SYMMETRIC_DEFAULT' | 'ECC_NIST_P256' | 'RSA_2048' | 'RSA_3072' | 'HMAC_256';
export type KeyUsage = 'ENCRYPT_DECRYPT' | 'SIGN_VERIFY' | 'GENERATE_VERIFY_MAC';

export interface KmsKey {
  id: string;
  arn: string;
  spec: KeySpec;
  usage: KeyUsage;
  createdAt: Date;
  /** 32 random bytes, or a private key as PKCS #8. */
  material: Buffer;
}

/** What each kind of key is for; AWS allows more for RSA, which nothing here uses. */
const usages: Record<KeySpec, KeyUsage> = {
  SYMMETRIC_DEFAULT: 'ENCRYPT_DECRYPT',
  ECC_NIST_P256: 'SIGN_VERIFY',
  RSA_2048: 'SIGN_VERIFY',
  RSA_3072: 'SIGN_VERIFY',
  HMAC_256: 'GENERATE_VERIFY_MAC',
};

interface KeyRow {
  id: string;
  spec: string;
  created_at_ms: number;
  sealed: Uint8Array;
}

/** Keys and their aliases in the journal, the material sealed under the engine's master secret. */
export class KmsKeys {
  #journal: Journal;
  #sealingKey: Buffer;
  #opened = new Map<string, KmsKey>();

  constructor(journal: Journal, masterSecret: Buffer) {
    this.#journal = journal;
    this.#sealingKey = deriveKey(masterSecret, 'kms key material');
    journal.exec(`
      CREATE TABLE IF NOT EXISTS kms_keys (id TEXT PRIMARY KEY, spec TEXT NOT NULL, created_at_ms INTEGER NOT NULL, sealed BLOB NOT NULL);
      CREATE TABLE IF NOT EXISTS kms_aliases (name TEXT PRIMARY KEY, key_id TEXT NOT NULL);
    `);
  }

  /** A key that is there already keeps its material: what it signed and sealed must stay good. */
  create({ id, keySpec, keyUsage }: { id: string; keySpec: string; keyUsage: string }): string {
    if (!isHosted(keySpec) || usages[keySpec] !== keyUsage) {
      throw new Error(
        `KMS key ${id}: ${keySpec} for ${keyUsage} is not hosted here; hosted are ${hosted()}.`,
      );
    }
    if (!/^[\w-]{1,64}$/.test(id))
      throw new Error(`KMS key ${id}: an id has letters, digits, _ and -, at most 64.`);
    const present = this.#journal.prepare('SELECT spec FROM kms_keys WHERE id = ?').get(id);
    if (present !== undefined && present['spec'] !== keySpec) {
      throw new Error(
        `KMS key ${id} is ${String(present['spec'])} and cannot become ${keySpec}; give it another name.`,
      );
    }
    if (present === undefined) {
      const sealed = seal(this.#sealingKey, newMaterial(keySpec), id);
      this.#journal
        .prepare('INSERT INTO kms_keys (id, spec, created_at_ms, sealed) VALUES (?, ?, ?, ?)')
        .run(id, keySpec, Date.now(), sealed);
    }
    return keyArn(id);
  }

  putAlias(name: string, keyId: string): void {
    this.#journal.prepare('INSERT OR REPLACE INTO kms_aliases (name, key_id) VALUES (?, ?)').run(name, keyId);
  }

  /** By id, ARN, alias or ARN of an alias. */
  find(reference: unknown): KmsKey {
    if (typeof reference !== 'string') throw new AwsError('ValidationException', 'KeyId must name a key.');
    const name = reference.replace(`arn:aws:kms:${REGION}:${ACCOUNT}:`, '').replace(/^key\//, '');
    const id = name.startsWith('alias/') ? this.#aliased(name) : name;
    const key = id === undefined ? undefined : (this.#opened.get(id) ?? this.#open(id));
    if (key === undefined) throw new AwsError('NotFoundException', `Key '${reference}' does not exist`);
    return key;
  }

  #aliased(name: string): string | undefined {
    const row = this.#journal.prepare('SELECT key_id FROM kms_aliases WHERE name = ?').get(name);
    return row === undefined ? undefined : String(row['key_id']);
  }

  #open(id: string): KmsKey | undefined {
    const row = this.#journal.prepare('SELECT * FROM kms_keys WHERE id = ?').get(id) as KeyRow | undefined;
    if (row === undefined) return undefined;
    const material = unseal(this.#sealingKey, Buffer.from(row.sealed), id);
    if (material === undefined) {
      throw new Error(
        `KMS key ${id} was sealed under another master secret; the data folder has lost its own.`,
      );
    }
    const spec = row.spec as KeySpec;
    const key = {
      id,
      arn: keyArn(id),
      spec,
      usage: usages[spec],
      createdAt: new Date(row.created_at_ms),
      material,
    };
    this.#opened.set(id, key);
    return key;
  }
}

export function privateKeyOf({ material }: KmsKey): KeyObject {
  return createPrivateKey({ key: material, format: 'der', type: 'pkcs8' });
}

function newMaterial(spec: KeySpec): Buffer {
  switch (spec) {
    case 'SYMMETRIC_DEFAULT':
    case 'HMAC_256':
      return randomBytes(32);
    case 'ECC_NIST_P256':
      return pkcs8(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
    case 'RSA_2048':
      return pkcs8(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
    case 'RSA_3072':
      return pkcs8(generateKeyPairSync('rsa', { modulusLength: 3072 }).privateKey);
    default:
      return spec satisfies never;
  }
}

function pkcs8(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'pkcs8' });
}

function keyArn(id: string): string {
  return `arn:aws:kms:${REGION}:${ACCOUNT}:key/${id}`;
}

function isHosted(spec: string): spec is KeySpec {
  return Object.hasOwn(usages, spec);
}

function hosted(): string {
  return Object.entries(usages)
    .map(([spec, usage]) => `${spec} for ${usage}`)
    .join(', ');
}
