import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { notOrphaned } from '../../../lib/local/engines/child-process.ts';
import { findCommand } from '../../../lib/local/engines/machine.ts';
import { agentFile } from '../serving/agent-file.ts';
import { KILL_POINTS_VARIABLE, type KillPoint, readSteps, type SeenStep, STEPS_VARIABLE } from './steps.ts';

const FLAGS = ['--disable-warning=ExperimentalWarning', '--expose-gc'];
/** A file of this machine is another one for this process and what it starts, and for nobody else. */
const WITH_PASSWD = 'mount --bind "$0" /etc/passwd && exec "$@"';

export interface ProcessOptions {
  stateDir: string;
  /** Through the launcher, from a release in the state folder. */
  isLaunched?: boolean;
  /** In place of /etc/passwd. */
  passwd?: string;
}

/** The program on the host as a process of its own, which can be killed and started again. */
export class AgentProcess {
  #options: ProcessOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  readonly stepsFile: string;
  readonly logFile: string;
  #pointsFile: string;
  #toolsDir: string;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#toolsDir = toolsBeside(options.stateDir);
    this.stepsFile = join(options.stateDir, '..', 'steps');
    this.logFile = join(options.stateDir, '..', 'log');
    this.#pointsFile = join(options.stateDir, '..', 'kill-points');
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('The agent does not run.');
    return pid;
  }

  /** Not yet, or not any more. */
  get hasEnded(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get exitCode(): number | null {
    return this.#child?.exitCode ?? null;
  }

  steps = (): SeenStep[] => readSteps(this.stepsFile);

  killAt(points: KillPoint[]): void {
    writeFileSync(this.#pointsFile, JSON.stringify(points));
  }

  /** Which of the points were reached. */
  killed = (): string[] => this.steps().flatMap(({ killed }) => killed ?? []);

  start(): void {
    const { stateDir, isLaunched = false, passwd } = this.#options;
    const program = [agentFile(), isLaunched ? 'launch' : 'run', '--state-dir', stateDir];
    const words = [process.execPath, ...FLAGS, ...program];
    const whole =
      passwd === undefined ? words : ['unshare', '--mount', 'sh', '-c', WITH_PASSWD, passwd, ...words];
    // A run of tests that is killed leaves no agent behind.
    const [command = '', ...rest] = notOrphaned(whole, isLaunched ? 'TERM' : 'KILL');
    const log = openSync(this.logFile, 'a');
    this.#child = spawn(command, rest, {
      stdio: ['ignore', log, log],
      env: {
        PATH: passwd === undefined ? this.#toolsDir : process.env['PATH'],
        NODE_OPTIONS: `--import=${pathToFileURL(preloadFile()).href}`,
        // So many lives of one program: it need not be compiled for each of them.
        NODE_COMPILE_CACHE: join(dirname(agentFile()), 'compiled'),
        [STEPS_VARIABLE]: this.stepsFile,
        [KILL_POINTS_VARIABLE]: this.#pointsFile,
      },
    });
    closeSync(log);
    this.#ended = once(this.#child, 'close');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  ended = (): Promise<unknown> => this.#ended;

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.hasEnded) return;
    // Killed, a launcher would leave its agent behind.
    this.signal(this.#options.isLaunched ? 'SIGTERM' : signal);
    await this.#ended;
  }
}

/** Beside the agent and like it without types: to strip them takes a third of the time in which the agent starts. */
function preloadFile(): string {
  const file = join(dirname(agentFile()), 'kill-at-step.mjs');
  if (existsSync(file)) return file;
  const entryPoints = [join(import.meta.dirname, 'kill-at-step.ts')];
  buildSync({ entryPoints, outfile: file, bundle: true, platform: 'node', format: 'esm' });
  return file;
}

/** What the agent needs of the machine's commands. What it only asks for the inventory costs more than its own start. */
function toolsBeside(stateDir: string): string {
  const folder = join(stateDir, '..', 'bin');
  if (existsSync(folder)) return folder;
  mkdirSync(folder);
  for (const name of ['mount', 'nft']) symlinkSync(findCommand(name) ?? name, join(folder, name));
  return folder;
}
