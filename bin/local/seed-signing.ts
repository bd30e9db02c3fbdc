import { hash, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../lib/local/journal/write-whole.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { keySigner, type Signer } from '../../sdk/signing/signer.ts';
import type { DemoApi } from './demo-api.ts';

/** Files of whoever signs in the demo: its key, and its certificate with the root's. */
export interface DemoSigning {
  key: string;
  chain: string;
}

/** Whoever signs, ready to sign. */
export interface DemoSigner extends Signer {
  /** SHA-256 over their certificate, as the platform names it. */
  fingerprint: string;
}

interface TrustPolicy {
  roots: string[];
}

const POLICY = '/api/v1/admin/artifacts/trust-policies/example';

/** Somebody who may sign what the demo project publishes. They stay the same from start to start. */
export async function seedSigning(admin: DemoApi, dataDir: string): Promise<DemoSigning> {
  const folder = join(dataDir, 'demo-signing');
  const files = { key: join(folder, 'key.pem'), chain: join(folder, 'chain.pem') };
  const root = findRoot(folder) ?? makeSigner(folder, files);
  const known = await admin.find<TrustPolicy>(POLICY);
  // Without the folder they were somebody else the last time.
  if (!known?.roots.includes(root)) {
    await admin.send('PUT', POLICY, {
      description: 'Artifacts of the demo project are signed with a key of this machine.',
      repository_pattern: 'gpuaas/apps/example/*',
      roots: [root],
      identities: ['O=Example'],
      provenance: { required: false, builders: [], source_repositories: [] },
    });
  }
  return files;
}

export function openSigner({ key, chain }: DemoSigning): DemoSigner {
  const signer = keySigner({ keyPem: readFileSync(key, 'utf8'), chainPem: readFileSync(chain, 'utf8') });
  return { ...signer, fingerprint: hash('sha256', signer.chain[0] ?? '') };
}

const rootFile = (folder: string): string => join(folder, 'root.pem');

function findRoot(folder: string): string | undefined {
  try {
    const root = readFileSync(rootFile(folder), 'utf8');
    return new Date(new X509Certificate(root).validTo) > new Date() ? root : undefined;
  } catch {
    return undefined;
  }
}

/** The root comes last and goes first: where it is, the rest is. */
function makeSigner(folder: string, files: DemoSigning): string {
  const { rootPem, chainPem, keyPem } = createDevelopmentChain({ organisation: 'Example' });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  rmSync(rootFile(folder), { force: true });
  writeWhole(files.key, keyPem, { mode: 0o600 });
  writeWhole(files.chain, chainPem, { mode: 0o600 });
  writeWhole(rootFile(folder), rootPem, { mode: 0o600 });
  return rootPem;
}
