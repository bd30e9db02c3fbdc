import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueCertificate, toPem } from '../../../sdk/signing/certificates.ts';
import { writeWhole } from '../journal/write-whole.ts';

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

/** The registry takes the key only inside an X.509 certificate, and looks at nothing in it but the key. */
function selfSignedCertificate(privateKey: KeyObject, publicKey: KeyObject): string {
  const validity = {
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2049-12-31T23:59:59Z'),
  };
  const subject = 'CN=local registry tokens';
  return toPem(issueCertificate({ subject, publicKey, privateKey, serialNumber: '01', ...validity }));
}
