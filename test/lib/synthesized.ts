import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from 'aws-cdk-lib';
import { onTestFinished } from 'vitest';
import { buildApp, type BuildOptions } from '../../lib/app.ts';

export interface Resource {
  Type: string;
  // Templates are looked into by tests only, each at the properties of the type it knows.
  Properties: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

export interface Synthesized {
  outdir: string;
  data: Record<string, Resource>;
  platform: Record<string, Resource>;
  remove: () => void;
}

/** The app, synthesized in a folder of its own; `remove` it in the end. */
export function synthesize(
  options: Omit<BuildOptions, 'outdir'> & { change?: (app: App) => void } = {},
): Synthesized {
  const outdir = mkdtempSync(join(tmpdir(), 'gpuaas-synth-'));
  const remove = () => rmSync(outdir, { recursive: true, force: true });
  try {
    const app = buildApp({ ...options, outdir });
    options.change?.(app);
    app.synth();
    return {
      outdir,
      data: readResources(outdir, 'GpuaasData'),
      platform: readResources(outdir, 'GpuaasPlatform'),
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

let app: Synthesized | undefined;

/** The app as it is, for everybody who only looks at it; it goes with the run. */
export function synthesizedApp(): Synthesized {
  return (app ??= synthesize({ validate: false }));
}

/** For one test alone. */
export function synthesizeOnce(...options: Parameters<typeof synthesize>): Synthesized {
  const synthesized = synthesize(...options);
  onTestFinished(synthesized.remove);
  return synthesized;
}

export function ofType(resources: Record<string, Resource>, type: string): [string, Resource][] {
  return Object.entries(resources).filter(([, resource]) => resource.Type === type);
}

/** The bundle a function runs. */
export function bundleOf(outdir: string, fn: Resource): string {
  const hash = String(fn.Properties.Code.S3Key).replace(/\.zip$/, '');
  return readFileSync(join(outdir, `asset.${hash}`, 'index.mjs'), 'utf8');
}

export function readResources(outdir: string, stack: string): Record<string, Resource> {
  const template = JSON.parse(readFileSync(join(outdir, `${stack}.template.json`), 'utf8')) as {
    Resources: Record<string, Resource>;
  };
  return template.Resources;
}
