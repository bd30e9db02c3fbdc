import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './write-whole.ts';

export interface RegistryKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** How the registry names the key: there is no JWKS, it derives this from the certificates it is given. */
  keyId: string;
  certificateFile: string;
}

/** The key that signs registry tokens, made once per data folder, with the certificate the registry trusts it by. */
export function openRegistryKey(dataDir: string): RegistryKey {
  const folder = join(dataDir, 'registry');
  const keyFile = join(folder, 'token-key.pem');
  const certificateFile = join(folder, 'token-certificate.pem');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(keyFile)) {
    const made = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeWhole(keyFile, made.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  }
  const privateKey = createPrivateKey(readFileSync(keyFile));
  const publicKey = createPublicKey(privateKey);
  writeFileSync(certificateFile, selfSignedCertificate(privateKey, publicKey));
  return { privateKey, publicKey, keyId: libtrustKeyId(publicKey), certificateFile };
}

/** docker/libtrust: base32 of the first 240 bits of SHA-256 over the public key, in groups of four. */
function libtrustKeyId(publicKey: KeyObject): string {
  const digest = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
  const bits = [...digest.subarray(0, 30)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('');
  return (letters.match(/.{4}/g) ?? []).join(':');
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * The registry takes the key only inside an X.509 certificate, and looks at nothing in it but the key. Node
 * can't build one and openssl may be absent, so here is the smallest: RFC 5280 version 1, no extensions.
 */
function selfSignedCertificate(privateKey: KeyObject, publicKey: KeyObject): string {
  const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
  const commonName = sequence(objectId('550403'), der(UTF8_STRING, Buffer.from('local registry tokens')));
  const name = sequence(der(SET, commonName));
  const validity = sequence(utcTime('260101000000Z'), utcTime('491231235959Z'));
  const subjectPublicKey = publicKey.export({ type: 'spki', format: 'der' });
  const serialNumber = der(INTEGER, Buffer.from([1]));
  const toBeSigned = sequence(serialNumber, ecdsaWithSha256, name, validity, name, subjectPublicKey);
  const signature = der(
    BIT_STRING,
    Buffer.concat([Buffer.from([0]), sign('sha256', toBeSigned, privateKey)]),
  );
  const base64 = sequence(toBeSigned, ecdsaWithSha256, signature).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;

function der(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => der(SEQUENCE, Buffer.concat(parts));
const objectId = (encodedHex: string): Buffer => der(OBJECT_ID, Buffer.from(encodedHex, 'hex'));
const utcTime = (text: string): Buffer => der(UTC_TIME, Buffer.from(text));
