import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { buildSync, type BuildOptions } from 'esbuild';

/** Names a folder in which builds are kept for whoever builds the same again. What is deployed is always built anew. */
export const BUILDS_KEPT = 'GPUAAS_BUILDS';

export interface Built {
  path: string;
  contents: Uint8Array;
}

type Options = BuildOptions & { absWorkingDir: string };

/** Of everything that is built: one file that Node runs as it is. */
const SETTINGS = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  conditions: ['module'],
  legalComments: 'none',
  logLevel: 'warning',
} satisfies BuildOptions;

/** All of ours that is built lies below these. */
const SOURCES = ['functions', 'agent', 'lib/agent-unreached.ts', 'docs/schemas'];
/** What it is built with; npm writes the first whenever it installs something. */
const TOOLS = ['node_modules/.package-lock.json', 'tsconfig.json'];

export function buildOnce(options: Options): Built[] {
  const folder = process.env[BUILDS_KEPT];
  if (folder === undefined) return build(options, undefined);
  const sources = filesOf(options.absWorkingDir, SOURCES);
  const file = join(folder, hashOf({ ...SETTINGS, ...options }, [...sources, ...TOOLS]));
  if (existsSync(file)) return deserialize(readFileSync(file)) as Built[];
  const built = build(options, new Set(sources));
  mkdirSync(folder, { recursive: true });
  // Whole or not at all: others may build the same at this moment.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, serialize(built));
  renameSync(draft, file);
  return built;
}

function build(options: Options, sources: Set<string> | undefined): Built[] {
  const { outputFiles, metafile } = buildSync({ ...SETTINGS, ...options, write: false, metafile: true });
  const ours = Object.keys(metafile.inputs).filter((path) => !/(^|\/)node_modules\//.test(path));
  const unknown = sources && ours.find((path) => !sources.has(path));
  if (unknown !== undefined) throw new Error(`${unknown} is built, and not among the sources of builds.`);
  return outputFiles.map(({ path, contents }) => ({ path, contents }));
}

const filesOf = (root: string, places: string[]): string[] =>
  places
    .flatMap((place) => [place, ...globSync(`${place}/**`, { cwd: root })])
    .filter((path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile())
    .sort();

function hashOf({ absWorkingDir, ...options }: Options, files: string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(options));
  for (const file of files) {
    const contents = createHash('sha256')
      .update(readFileSync(join(absWorkingDir, file)))
      .digest('hex');
    hash.update(`${file} ${contents}\n`);
  }
  return hash.digest('hex');
}
