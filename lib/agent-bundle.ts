import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { buildOnce } from './build-once.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** How the agent's one file is called, wherever it lies. */
export const AGENT_FILE = 'gpuaas-agent.mjs';

// Some of its dependencies are CommonJS and call `require`, which an ES module lacks.
const REQUIRE = `import { createRequire as createRequireOfAgent } from 'node:module'; const require = createRequireOfAgent(import.meta.url);`;

/**
 * What dockerode asks for to speak to an engine over SSH and to BuildKit. The agent uses the socket of its own machine,
 * and builds nothing.
 */
const UNREACHED = ['ssh2', '@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs'];
const NOTHING = './lib/agent-unreached.ts';

let bundled: Uint8Array | undefined;

/** The program on the host, in one file that needs nothing but Node. */
export function bundleAgent(): Uint8Array {
  bundled ??= bundle();
  return bundled;
}

function bundle(): Uint8Array {
  const [file] = buildOnce({
    absWorkingDir: ROOT,
    entryPoints: ['agent/gpuaas-agent.ts'],
    banner: { js: REQUIRE },
    alias: Object.fromEntries(UNREACHED.map((name) => [name, NOTHING])),
    define: { AGENT_VERSION: JSON.stringify(manifest.version) },
  });
  if (!file) throw new Error('The agent was bundled into no file.');
  return file.contents;
}

/** What the function that serves it has put in its places. */
export const agentTexts = (): Record<string, string> => ({
  BOOTSTRAP_SCRIPT: readText('bootstrap.sh'),
  CLOUD_INIT: readText('cloud-init.yaml'),
  AGENT_FILE,
});

const readText = (name: string): string => readFileSync(join(ROOT, 'agent', 'bootstrap', name), 'utf8');
