import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The agent's file, beside that of the function: `lib/bundle.ts` puts it there, and its name in this place. */
declare const AGENT_FILE: string;

export interface AgentBundle {
  text: string;
  /** As images and files are named: `sha256:` and 64 digits. */
  digest: string;
  sizeBytes: number;
}

let bundle: AgentBundle | undefined;

/** The program a host runs, in one file. It stays what it is as long as the function does. */
export function readAgentBundle(): AgentBundle {
  if (!bundle) {
    const bytes = readFileSync(resolve(import.meta.dirname, AGENT_FILE));
    const digest = `sha256:${hash('sha256', bytes)}`;
    bundle = { text: bytes.toString('utf8'), digest, sizeBytes: bytes.length };
  }
  return bundle;
}
