import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Template } from './template.ts';

/** One stack of a cloud assembly, with the folders its code assets were staged in. */
export interface AssembledStack {
  name: string;
  template: Template;
  /** Object key of an asset in the (never used) bootstrap bucket → the folder or file it is made of. */
  assets: Map<string, string>;
}

interface AssemblyManifest {
  artifacts?: Record<string, AssemblyArtifact>;
}

interface AssemblyArtifact {
  type: string;
  dependencies?: string[];
  properties?: { templateFile?: string; stackName?: string; file?: string };
}

interface AssetManifest {
  files?: Record<string, { source: { path?: string }; destinations: Record<string, { objectKey: string }> }>;
}

/** Reads what `cdk synth` wrote. Stacks come in dependency order, so imports are met before they are used. */
export function readAssembly(folder: string): AssembledStack[] {
  const manifestFile = join(folder, 'manifest.json');
  if (!existsSync(manifestFile))
    throw new Error(
      `${folder} is not a cloud assembly: it has no manifest.json. "npm run synth" creates one in cdk.out.`,
    );
  const manifest = readJson<AssemblyManifest>(manifestFile);
  const artifacts = manifest.artifacts ?? {};
  const stacks: AssembledStack[] = [];
  const seen = new Set<string>();
  const visit = (id: string): void => {
    const artifact = artifacts[id];
    if (artifact === undefined || seen.has(id)) return;
    seen.add(id);
    for (const dependency of artifact.dependencies ?? []) visit(dependency);
    if (artifact.type !== 'aws:cloudformation:stack' || artifact.properties?.templateFile === undefined)
      return;
    stacks.push({
      name: artifact.properties.stackName ?? id,
      template: readJson<Template>(join(folder, artifact.properties.templateFile)),
      assets: readAssets(
        folder,
        (artifact.dependencies ?? []).map((d) => artifacts[d]?.properties?.file),
      ),
    });
  };
  for (const id of Object.keys(artifacts)) visit(id);
  if (stacks.length === 0) throw new Error(`${folder} has no stack. Run "npm run synth" to see why.`);
  return stacks;
}

function readAssets(folder: string, files: (string | undefined)[]): Map<string, string> {
  const assets = new Map<string, string>();
  for (const file of files) {
    if (file === undefined) continue;
    for (const asset of Object.values(readJson<AssetManifest>(join(folder, file)).files ?? {})) {
      if (asset.source.path === undefined) continue;
      for (const { objectKey } of Object.values(asset.destinations)) {
        assets.set(objectKey, join(folder, asset.source.path));
      }
    }
  }
  return assets;
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
