import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthesize } from '../../lib/local/synthesize.ts';

declare module 'vitest' {
  interface ProvidedContext {
    assembly: string;
  }
}

/** Synthesized once; every copy a fault test starts provisions this. */
export async function setup(project: TestProject): Promise<() => void> {
  const assembly = mkdtempSync(join(tmpdir(), 'gpuaas-assembly-'));
  // Nobody signs in during fault tests, so whose tokens are believed does not matter.
  await synthesize(assembly, { oidc_issuer: 'http://127.0.0.1:1/_oidc' });
  // For the copy that does not run as root.
  chmodSync(assembly, 0o755);
  project.provide('assembly', assembly);
  return () => rmSync(assembly, { recursive: true, force: true });
}
