import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { AUTHORIZATION_CACHE_SECONDS, startCopy, type ReadyFile } from './platform-copy.ts';

declare module 'vitest' {
  interface ProvidedContext {
    platform: ReadyFile;
  }
}

/** Where the run says where a cloud assembly is that others may use too. */
export const SYNTHESIZED = 'TEST_ASSEMBLY';

/** One platform for all end-to-end tests; each test file keeps to an organisation of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gpuaas-e2e-'));
  // What is promised within five seconds is promised by this value, and waited for many times.
  const context = { authorization_cache_seconds: String(AUTHORIZATION_CACHE_SECONDS) };
  const copy = await startCopy({ dataDir, context, host: true });
  project.provide('platform', copy.ready);
  process.env[SYNTHESIZED] = join(dataDir, 'assembly');
  return async () => {
    await copy.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
