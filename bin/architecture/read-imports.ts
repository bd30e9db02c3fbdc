import { cruise, type ICruiseResult } from 'dependency-cruiser';

/** What the pictures are about: tests import everything, and nothing imports them. */
const SOURCES = ['agent', 'bin', 'functions', 'lib', 'sdk'];

/** One folder: how many files are in it, and which other folders they import. */
export interface Folder {
  path: string;
  files: number;
  imports: string[];
}

/** The real import graph, types included, by folder. */
export async function readImports(root: string): Promise<Folder[]> {
  const { output } = await cruise(SOURCES, {
    baseDir: root,
    includeOnly: { path: `^(${SOURCES.join('|')})/` },
    tsPreCompilationDeps: true,
  });
  return foldersOf((output as ICruiseResult).modules);
}

interface Module {
  source: string;
  dependencies: { resolved: string }[];
}

export function foldersOf(modules: Module[]): Folder[] {
  const byFolder = Map.groupBy(modules, ({ source }) => folderOf(source));
  return [...byFolder]
    .map(([path, own]) => {
      const imported = own.flatMap(({ dependencies }) =>
        dependencies.map(({ resolved }) => folderOf(resolved)),
      );
      const imports = [...new Set(imported)].filter((each) => each !== path).sort();
      return { path, files: own.length, imports };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/'));
