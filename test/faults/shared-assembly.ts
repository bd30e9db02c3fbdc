import { chmodSync, cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthesize } from '../../lib/local/template/synthesize.ts';
import { SYNTHESIZED } from '../e2e/shared-platform.ts';

declare module 'vitest' {
  interface ProvidedContext {
    assembly: string;
  }
}

/** A message that a dead platform held is hidden for so long, and that is waited for. */
const VISIBILITY_SECONDS = 5;

/** Synthesized once, by the platform of the end-to-end tests if there is one; every copy a fault test starts provisions this. */
export async function setup(project: TestProject): Promise<() => void> {
  const assembly = mkdtempSync(join(tmpdir(), 'gpuaas-assembly-'));
  // Nobody signs in during fault tests, so whose tokens are believed does not matter.
  const synthesized = process.env[SYNTHESIZED];
  if (synthesized !== undefined) cpSync(synthesized, assembly, { recursive: true });
  else await synthesize(assembly, { oidc_issuer: 'http://127.0.0.1:1/_oidc' });
  for (const file of globSync('*.template.json', { cwd: assembly })) hurryQueues(join(assembly, file));
  // For the copy that does not run as root.
  chmodSync(assembly, 0o755);
  project.provide('assembly', assembly);
  return () => rmSync(assembly, { recursive: true, force: true });
}

function hurryQueues(file: string): void {
  const template = JSON.parse(readFileSync(file, 'utf8')) as {
    Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
  };
  const resources = Object.values(template.Resources);
  for (const { Type, Properties } of resources) {
    if (Type === 'AWS::SQS::Queue' && 'VisibilityTimeout' in Properties)
      Properties['VisibilityTimeout'] = VISIBILITY_SECONDS;
    // Who reads a queue may take no longer than a message is hidden. A stream is read from a position on, a queue is not.
    if (Type !== 'AWS::Lambda::EventSourceMapping' || 'StartingPosition' in Properties) continue;
    const { FunctionName } = Properties as { FunctionName?: { Ref: string } };
    const reader = template.Resources[FunctionName?.Ref ?? ''];
    if (reader) reader.Properties['Timeout'] = VISIBILITY_SECONDS;
  }
  writeFileSync(file, JSON.stringify(template));
}
