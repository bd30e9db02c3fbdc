import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENT_FILE, bundleAgent } from '../../../lib/agent-bundle.ts';

let file: string | undefined;

/** The agent as it is released, in a folder that goes with the run. */
export function agentFile(): string {
  if (file === undefined) {
    const bundle = bundleAgent();
    file = join(mkdtempSync(join(tmpdir(), 'gpuaas-agent-')), AGENT_FILE);
    writeFileSync(file, bundle);
  }
  return file;
}
