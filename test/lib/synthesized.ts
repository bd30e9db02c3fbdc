import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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

export type Resources = Record<string, Resource>;

interface Synthesis {
  /** Each stack as it stands in its template. */
  stacks: Record<string, Resources>;
  data: Resources;
  /** Everything but the data, as if it were one stack: a reference to another stack is what that stack publishes. */
  platform: Resources;
}

export interface Synthesized extends Synthesis {
  outdir: string;
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
    return { outdir, ...readSynthesis(outdir), remove };
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

export function ofType(resources: Resources, type: string): [string, Resource][] {
  return Object.entries(resources).filter(([, resource]) => resource.Type === type);
}

/** The bundle a function runs. */
export function bundleOf(outdir: string, fn: Resource): string {
  const hash = String(fn.Properties.Code.S3Key).replace(/\.zip$/, '');
  return readFileSync(join(outdir, `asset.${hash}`, 'index.mjs'), 'utf8');
}

/** The file a function runs, `<folder>-<file>`: its name without the stack. */
export const shortName = (functionName: unknown): string =>
  String(functionName).replace(/^Gpuaas[A-Z]\w+-/, '');

export interface StackTemplate {
  Resources: Resources;
  Outputs?: Record<string, { Value: unknown; Export?: unknown }>;
}

export function readTemplates(outdir: string): Record<string, StackTemplate> {
  const files = readdirSync(outdir).filter((file) => file.endsWith('.template.json'));
  return Object.fromEntries(
    files.map((file) => [
      file.replace('.template.json', ''),
      JSON.parse(readFileSync(join(outdir, file), 'utf8')) as StackTemplate,
    ]),
  );
}

export function readSynthesis(outdir: string): Synthesis {
  const templates = readTemplates(outdir);
  const stacks = Object.fromEntries(
    Object.entries(templates).map(([name, template]) => [
      name,
      withReferences(template.Resources, templates),
    ]),
  );
  const { GpuaasData: data = {}, ...others } = stacks;
  const platform = Object.values(others).flatMap((resources) => Object.entries(resources));
  const twice = platform.filter(([id], index) => platform.findIndex(([other]) => other === id) !== index);
  if (twice.length > 0) throw new Error(`Several stacks have a resource ${twice[0]?.[0]}.`);
  return { stacks, data, platform: Object.fromEntries(platform) };
}

interface StackOutput {
  'Fn::GetStackOutput'?: { StackName: string; OutputName: string };
}

/** With what each reference to another stack stands for there. */
function withReferences<T>(value: T, templates: Record<string, StackTemplate>): T {
  if (Array.isArray(value)) return value.map((each) => withReferences<unknown>(each, templates)) as T;
  if (value === null || typeof value !== 'object') return value;
  const { 'Fn::GetStackOutput': output } = value as StackOutput;
  if (output)
    return withReferences(templates[output.StackName]?.Outputs?.[output.OutputName]?.Value, templates) as T;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withReferences<unknown>(each, templates)]),
  ) as T;
}
