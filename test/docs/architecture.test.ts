import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { describe, expect, test } from 'vitest';
import { arrowsBetween, type Rule, withArchitecture, withoutDetours } from '../../bin/architecture/draw.ts';
import { foldersOf, readImports } from '../../bin/architecture/read-imports.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('docs/architecture.md', () => {
  const file = join(ROOT, 'docs/architecture.md');

  test('shows the imports there are, and the rules about them', async () => {
    const rules = JSON.parse(readFileSync(join(ROOT, '.dependency-cruiser.json'), 'utf8')) as {
      forbidden: Rule[];
    };
    const page = readFileSync(file, 'utf8');
    const made = withArchitecture(page, await readImports(ROOT), rules.forbidden);
    const style = await resolveConfig(file);
    expect(await format(made, { ...style, parser: 'markdown' }), 'Renew it with: npm run architecture').toBe(
      page,
    );
  });
});

test('no folder imports one that leads back to it, nor do a folder and those inside it', async () => {
  const imports = new Map((await readImports(ROOT)).map((folder) => [folder.path, folder.imports]));
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of imports.get(from) ?? []) if (!seen.has(next)) reached(next, seen.add(next));
    return seen;
  };
  expect([...imports.keys()].filter((path) => reached(path).has(path))).toEqual([]);
});

describe('the import graph', () => {
  const module = (source: string, ...resolved: string[]) => ({
    source,
    dependencies: resolved.map((each) => ({ resolved: each })),
  });

  test('is told by folder, each import once and none within a folder', () => {
    const folders = foldersOf([
      module('functions/b/one.ts', 'functions/a/one.ts', 'functions/b/two.ts'),
      module('functions/b/two.ts', 'functions/a/two.ts'),
      module('functions/a/one.ts'),
      module('functions/a/two.ts'),
    ]);
    expect(folders).toEqual([
      { path: 'functions/a', files: 2, imports: [] },
      { path: 'functions/b', files: 2, imports: ['functions/a'] },
    ]);
  });

  test('is told by group, without the folders that are in none', () => {
    const folders = foldersOf([
      module('functions/a/x/one.ts', 'functions/a/y/one.ts', 'functions/b/one.ts'),
      module('functions/b/one.ts', 'lib/one.ts'),
    ]);
    const domainOf = (path: string) => /^functions\/(\w+)/.exec(path)?.[1];
    expect(arrowsBetween(folders, domainOf)).toEqual([['a', 'b']]);
  });

  test('is drawn without the arrows that a longer way makes superfluous', () => {
    const direct = [
      ['a', 'b'],
      ['b', 'c'],
    ] as const;
    expect(withoutDetours([...direct, ['a', 'c']])).toEqual(direct);
  });

  test('is drawn whole where it has a circle', () => {
    const circle = [
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'c'],
      ['b', 'c'],
    ] as const;
    expect(withoutDetours([...circle])).toEqual(circle);
  });
});
