import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type JsonSchema, validateValue } from '../../functions/manifests/json-schema.ts';
import { lintManifest, type Manifest, readManifest } from '../../functions/manifests/manifest.ts';
import { placeRepositories } from '../../functions/manifests/manifest-repositories.ts';
import { parseYaml } from '../../functions/manifests/manifest-text.ts';
import { ROOT } from '../../lib/bundle.ts';

const files = globSync('starter-pack/apps/*/manifest.yaml', { cwd: ROOT });

function read(file: string): Manifest {
  const result = readManifest(parseYaml(readFileSync(join(ROOT, file), 'utf8')));
  expect(result).not.toHaveProperty('problems');
  return (result as { manifest: Manifest }).manifest;
}

describe.each(files.map((file) => [basename(dirname(file)), file]))('the manifest of %s', (slug, file) => {
  test('is valid, and the app is named like its folder', () => {
    expect(read(file).app.slug).toBe(slug);
  });

  test('lacks nothing for a promotion but the digests of what is not pushed yet', () => {
    const manifest = read(file);
    const unbound = manifest.version.artifacts.map((_, index) => `/version/artifacts/${index}/digest`);
    expect(lintManifest(manifest).map(({ pointer }) => pointer)).toEqual(unbound);
  });

  test('names its repository without a project, so that whoever copies it has nothing to change', () => {
    const placed = placeRepositories(read(file), 'example') as { manifest: Manifest };
    const repositories = (manifest: Manifest) => manifest.version.artifacts.map((each) => each.repository);
    expect(new Set(repositories(read(file)))).toEqual(new Set([`apps/${slug}`]));
    expect(new Set(repositories(placed.manifest))).toEqual(new Set([`gpuaas/apps/example/${slug}`]));
  });

  test('has a smoke run that somebody can carry out', () => {
    const stages = read(file).version.runtime_profile?.validation.map(({ stage }) => stage);
    expect(stages).toContain('smoke');
  });
});

test('four apps are there from the start', () => {
  const slugs = files.map((file) => basename(dirname(file))).sort();
  expect(slugs).toEqual(['hello-web', 'jupyterlab', 'slurm-reference', 'vllm-openai']);
});

describe('the packages of JupyterLab', () => {
  const manifest = read('starter-pack/apps/jupyterlab/manifest.yaml');

  test('are names with versions; addresses, files and options of pip are not', () => {
    const parameters = manifest.version.parameters as unknown as JsonSchema;
    const accepts = (name: string): boolean => validateValue(parameters, { packages: [name] }).length === 0;
    const good = [
      'pandas',
      'pandas==2.2.3',
      'torch>=2.4',
      'uvicorn[standard]==0.30.0',
      'jupyterlab-git~=0.50',
    ];
    const bad = [
      '',
      'git+https://example.com/x',
      './x.whl',
      '--index-url=https://example.com',
      'a b',
      'x;rm -rf',
      'x @ https://example.com',
    ];
    expect(good.filter((name) => !accepts(name))).toEqual([]);
    expect(bad.filter(accepts)).toEqual([]);
  });
});
