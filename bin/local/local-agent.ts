import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Child, superviseChild } from '../../lib/local/engines/child-process.ts';
import { writeWhole } from '../../lib/local/journal/write-whole.ts';

export interface AgentOptions {
  apiUrl: string;
  dataDir: string;
  /** As DOCKER_HOST has it. */
  dockerHost: string;
  registry: string | null;
  stop?: AbortSignal;
}

/** The agent of this machine: the program the platform serves, as a process of its own, with its state in the data folder. */
export class LocalAgent {
  readonly #options: AgentOptions;
  readonly #stateDir: string;
  readonly #program: string;
  readonly #dockerSocket: string;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#stateDir = join(options.dataDir, 'agent');
    this.#program = join(options.dataDir, 'gpuaas-agent.mjs');
    this.#dockerSocket = new URL(options.dockerHost).pathname;
  }

  /** Which node it has joined as, if it has. */
  nodeId(): string | undefined {
    const file = join(this.#stateDir, 'config.json');
    if (!existsSync(file)) return undefined;
    return (JSON.parse(readFileSync(file, 'utf8')) as { node_id: string }).node_id;
  }

  /** For a node that is there no more. */
  forget(): void {
    rmSync(this.#stateDir, { recursive: true, force: true });
  }

  /** As any host gets it, and checked as any host checks it. */
  async download(): Promise<void> {
    const [bundle, release] = await Promise.all([this.#get('bundle.mjs'), this.#get('release')]);
    const { document } = JSON.parse(release) as { document: string };
    const payload = Buffer.from(document.split('.')[1] ?? '', 'base64url').toString('utf8');
    const { digest } = JSON.parse(payload) as { digest: string };
    if (digest !== `sha256:${hash('sha256', bundle)}`) throw new Error('The agent is not the one released.');
    writeWhole(this.#program, bundle);
  }

  async join(nodeId: string, joinToken: string): Promise<void> {
    const { apiUrl, stop } = this.#options;
    const words = [
      ...this.#words('join'),
      '--url',
      apiUrl,
      '--node',
      nodeId,
      '--docker-socket',
      this.#dockerSocket,
    ];
    const [command = '', ...args] = words;
    await promisify(execFile)(command, args, {
      ...(stop && { signal: stop }),
      // By the environment: what stands on a command line, everybody on this machine can read.
      env: { ...process.env, GPUAAS_JOIN_TOKEN: joinToken },
    });
  }

  /** Until it is stopped it is started again whenever it ends. What runs on this machine goes on without it. */
  run(): Promise<Child> {
    const [command = '', ...args] = this.#words('run');
    return superviseChild({
      name: 'agent',
      command,
      args,
      env: this.#environment(),
      dataDir: this.#options.dataDir,
      // It listens nowhere. Whether it works, its heartbeat tells.
      ready: async () => true,
      readySecondsMax: 10,
      stopSecondsMax: 10,
      orphanSignal: 'TERM',
    });
  }

  #words(command: string): string[] {
    const node = [process.execPath, '--disable-warning=ExperimentalWarning'];
    return [...node, this.#program, command, '--state-dir', this.#stateDir];
  }

  /** What may be another at each start. */
  #environment(): Record<string, string> {
    const { apiUrl, registry } = this.#options;
    return {
      GPUAAS_AGENT_URL: apiUrl,
      GPUAAS_AGENT_DOCKER_SOCKET: this.#dockerSocket,
      ...(registry !== null && { GPUAAS_AGENT_REGISTRY_HOST: registry }),
    };
  }

  async #get(name: string): Promise<string> {
    const { apiUrl, stop } = this.#options;
    const response = await fetch(`${apiUrl}/api/v1/agent/${name}`, { ...(stop && { signal: stop }) });
    if (!response.ok) throw new Error(`GET ${response.url} answered ${response.status}.`);
    return response.text();
  }
}
