import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDevelopmentChain } from '../signing/certificates.ts';
import { KEY_TYPES } from '../signing/algorithms.ts';
import { SigningError } from '../signing/signing-error.ts';
import { answer, tell, type Answering, type Streams } from './streams.ts';

export interface CreateOptions extends Answering {
  organisation: string;
  commonName?: string;
  keyType: string;
  out: string;
}

/** `gpuaas certificate create-dev`. */
export function createDevelopmentCertificate(options: CreateOptions, streams: Streams): void {
  const { organisation, commonName, out } = options;
  const keyType = KEY_TYPES.find((type) => type === options.keyType);
  if (keyType === undefined) {
    const advice = `Use one of ${KEY_TYPES.join(', ')}.`;
    throw new SigningError('usage', `“${options.keyType}” is not a supported key type.`, advice);
  }
  const files = { key: join(out, 'key.pem'), chain: join(out, 'chain.pem'), root: join(out, 'root.pem') };
  const taken = Object.values(files).find((path) => existsSync(path));
  if (taken !== undefined) {
    // The key may be the only one that renews what was signed with it.
    throw new SigningError(
      'conflict',
      `${taken} already exists.`,
      'Use another folder, or move the file away.',
    );
  }
  const { keyPem, chainPem, rootPem } = createDevelopmentChain({ organisation, commonName, keyType });
  mkdirSync(out, { recursive: true, mode: 0o700 });
  writeFileSync(files.key, keyPem, { mode: 0o600, flag: 'wx' });
  writeFileSync(files.chain, chainPem, { flag: 'wx' });
  writeFileSync(files.root, rootPem, { flag: 'wx' });
  tell(
    streams,
    options,
    `For development only. The key of the root was not kept. Add ${files.root} to a trust policy.`,
  );
  answer(
    streams,
    options,
    files,
    Object.entries(files).map(([what, path]) => `${what} ${path}`),
  );
}
