import { createPrivateKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The ES256 key that signs tokens, made once per data folder: what was signed before a restart stays good after it. */
export function openSigningKey(dataDir: string): JsonWebKey {
  const folder = join(dataDir, 'oidc');
  const file = join(folder, 'signing-key.pem');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const draft = `${file}.draft`;
    writeFileSync(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    renameSync(draft, file);
  }
  return createPrivateKey(readFileSync(file)).export({ format: 'jwk' });
}
