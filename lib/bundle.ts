import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { packText } from '../functions/docs/packed-text.ts';
import { AGENT_FILE, agentTexts, bundleAgent } from './agent-bundle.ts';
import { buildAsyncapi } from './asyncapi.ts';
import { buildOnce, type Built } from './build-once.ts';
import { buildOpenapi } from './openapi.ts';

export const ROOT = resolve(import.meta.dirname, '..');

/** A function is a file that exports its handler. */
const HANDLER = /^export const handler\b/m;

// Some of the SDK's dependencies are CommonJS and call `require`, which an ES module lacks.
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;

// Lambda gives a function its credentials in the environment, which the SDK looks at first. The other ways to
// come by them are a third of its size.
const UNREACHED = [
  '@aws-sdk/credential-provider-http',
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/credential-provider-process',
  '@aws-sdk/credential-provider-sso',
  '@aws-sdk/credential-provider-web-identity',
  '@smithy/credential-provider-imds',
];

export type Entry = `functions/${string}.ts`;

/** What lies beside the bundle of a function, for it to read. */
const BESIDE: Partial<Record<Entry, () => Record<string, Uint8Array>>> = {
  // Within it, the agent would make a bundle that starts slowly.
  'functions/agent/api.ts': () => ({ [AGENT_FILE]: bundleAgent() }),
};

/** By entry, the folder its bundle was written to. */
type Bundles = Map<string, string>;

const bundlesOfApp = new WeakMap<IConstruct, Bundles>();

/** The bundled code of one function, as an asset whose hash depends on nothing but its bytes. */
export function bundledCode(scope: IConstruct, entry: Entry): Code {
  const app = scope.node.root;
  if (!App.isApp(app)) throw new Error('Functions are bundled inside an App.');
  const bundles = bundlesOfApp.get(app) ?? bundleAll(join(app.outdir, 'bundles'));
  bundlesOfApp.set(app, bundles);
  const folder = bundles.get(entry);
  if (!folder) throw new Error(`${entry} is not a function: the file must exist and export a handler.`);
  return Code.fromAsset(folder);
}

function bundleAll(folder: string): Bundles {
  bundled ??= bundle();
  return new Map(
    bundled.map(({ path, contents }) => {
      const entry: Entry = `functions/${basename(dirname(path))}/${basename(path, '.js')}.ts`;
      return [entry, writeBundle(folder, { ...BESIDE[entry]?.(), 'index.mjs': contents })];
    }),
  );
}

/** Kept for the next app of this process: what is bundled are the sources it has loaded. */
let bundled: Built[] | undefined;

// All in one go: esbuild then parses the SDK once instead of once a function.
function bundle(): Built[] {
  const entries = globSync('functions/*/*.ts', { cwd: ROOT })
    .filter((entry) => HANDLER.test(readFileSync(join(ROOT, entry), 'utf8')))
    .sort();
  return buildOnce({
    absWorkingDir: ROOT,
    entryPoints: entries,
    outbase: '.',
    outdir: 'bundles',
    banner: { js: REQUIRE },
    external: UNREACHED,
    // Where functions/docs and functions/agent stand for texts: each text, made of the very sources bundled here.
    define: Object.fromEntries(
      Object.entries({
        OPENAPI_DOCUMENT: packText(JSON.stringify(buildOpenapi())),
        ASYNCAPI_DOCUMENT: packText(JSON.stringify(buildAsyncapi())),
        ...agentTexts(),
      }).map(([name, text]) => [name, JSON.stringify(text)]),
    ),
  });
}

// The folder is named by content: CDK remembers a folder it has seen and would miss an edit made in place.
function writeBundle(parent: string, files: Record<string, Uint8Array>): string {
  const hash = createHash('sha256');
  for (const contents of Object.values(files)) hash.update(contents);
  const folder = join(parent, hash.digest('hex').slice(0, 16));
  // Written last: where it is, the rest is.
  if (existsSync(join(folder, 'index.mjs'))) return folder;
  mkdirSync(folder, { recursive: true });
  for (const [name, contents] of Object.entries(files)) writeFileSync(join(folder, name), contents);
  return folder;
}
