import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { notOrphaned } from '../../lib/local/engines/child-process.ts';
import { ENGINE_ASKED } from '../dynamodb.ts';
import { SEED } from '../rough.ts';

/** In the end-to-end tests a warm function remembers so long what somebody may do. */
export const AUTHORIZATION_CACHE_SECONDS = 1;

const ROOT = join(import.meta.dirname, '..', '..');
// With the synthesis, on a machine that has other things to do.
const READY_SECONDS_MAX = 150;

export interface ReadyFile {
  pid: number;
  api_url: string;
  ws_url: string;
  aws_endpoint: string;
  region: string;
  registry: string | null;
  docker_host: string | null;
  aws_credentials_file: string;
  oidc_issuer: string;
  demo: {
    org_id: string;
    project_id: string;
    app_slug: string;
    app_version: string;
    app_status: string;
    signing: { key: string; chain: string };
    node_id?: string;
    sku?: string;
    allocation_id?: string;
  };
}

export interface PlatformCopy {
  ready: ReadyFile;
  process: ChildProcess;
  output(): string;
  stop(signal?: 'SIGINT' | 'SIGTERM'): Promise<void>;
  kill(): Promise<void>;
}

/** A platform in a process of its own, as `npm start` runs it. */
export async function startCopy(options: {
  dataDir: string;
  assembly?: string;
  context?: Record<string, string>;
  root?: string;
  port?: number;
  /** Whether this machine becomes a host of the copy: that takes a container engine, an agent and their time. */
  host?: boolean;
}): Promise<PlatformCopy> {
  const root = options.root ?? ROOT;
  const words = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(root, 'bin', 'local.ts'),
    '--data',
    options.dataDir,
    '--port',
    String(options.port ?? 0),
  ];
  if (options.assembly !== undefined) words.push('--assembly', options.assembly);
  if (options.host !== true) words.push('--no-host');
  for (const [name, value] of Object.entries(options.context ?? {}))
    words.push('--context', `${name}=${value}`);
  if (SEED !== undefined) words.push('--rough', SEED);
  if (ENGINE_ASKED !== undefined) words.push('--dynamodb', ENGINE_ASKED);
  // Whoever runs the tests may be killed, and then nobody stops it.
  const [command = '', ...args] = notOrphaned(words, 'TERM');
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  const ready = await waitForReady(join(options.dataDir, 'ready.json'), child, () => output);
  return {
    ready,
    process: child,
    output: () => output,
    stop: (signal = 'SIGTERM') => end(signal),
    kill: () => end('SIGKILL'),
  };
}

async function waitForReady(file: string, child: ChildProcess, output: () => string): Promise<ReadyFile> {
  const deadline = Date.now() + READY_SECONDS_MAX * 1000;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`The platform ended before it was ready:\n${output()}`);
    if (existsSync(file)) {
      const ready = JSON.parse(readFileSync(file, 'utf8')) as ReadyFile;
      if (ready.pid === child.pid) return ready;
    }
    await wait(50);
  }
  child.kill('SIGKILL');
  throw new Error(`The platform was not ready within ${READY_SECONDS_MAX} s:\n${output()}`);
}
