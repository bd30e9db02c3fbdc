import { transformSync } from 'esbuild';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { FunctionError, Order, Report, Startup } from './messages.ts';

const INIT_SECONDS_MAX = 10;

/** How an invocation went, as the sandbox saw it. */
export type Outcome = { ok: true; payload: Buffer } | { ok: false; error: FunctionError };

export type TimedOutcome = Outcome & { durationMs: number };

/** Why a sandbox is gone, told to the request that finds it so. */
type Death = (requestId: string) => FunctionError;

/**
 * One worker thread that holds one function's code and answers one invocation at a time. Whatever the code
 * does (exit, crash, loop for ever, eat its memory) costs this thread and the invocation under way, no more.
 */
export class Sandbox {
  #worker: Worker;
  #timeoutSeconds: number;
  #started: Promise<void>;
  #alive = true;
  #death: Death | undefined;
  #finish: ((outcome: Outcome | Death) => void) | undefined;
  #startedAtMs = performance.now();
  initMs = 0;

  constructor(options: {
    startup: Startup;
    env: Record<string, string>;
    timeoutSeconds: number;
    output: (text: string) => void;
  }) {
    this.#timeoutSeconds = options.timeoutSeconds;
    this.#worker = new Worker(runtimeSource(), {
      eval: true,
      workerData: options.startup,
      env: options.env,
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: options.startup.memoryMb },
    });
    this.#started = new Promise((resolve) => {
      const overdue = this.#endAfter(Math.max(INIT_SECONDS_MAX, this.#timeoutSeconds));
      this.#worker.on('message', (report: Report) => {
        switch (report.kind) {
          case 'output':
            return options.output(report.text);
          case 'ready':
            clearTimeout(overdue);
            this.initMs = performance.now() - this.#startedAtMs;
            return resolve();
          case 'succeeded':
            return this.#finish?.({ ok: true, payload: Buffer.from(report.payload) });
          case 'failed':
            return this.#finish?.({ ok: false, error: report.error });
          case 'crashed':
            this.#death ??= () => report.error;
        }
      });
      this.#worker.on('error', (error) => {
        this.#death ??= deathBy(error);
      });
      this.#worker.on('exit', (code) => {
        clearTimeout(overdue);
        this.#death ??= exited(code);
        const diedIdle = this.#alive && this.initMs > 0 && this.#finish === undefined;
        if (diedIdle) options.output(`ERROR between invocations ${JSON.stringify(this.#death('none'))}`);
        this.#alive = false;
        this.#finish?.(this.#death);
        resolve();
      });
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  async invoke(order: Omit<Order, 'deadlineMs'>): Promise<TimedOutcome> {
    await this.#started;
    const readyAtMs = performance.now();
    const result = await new Promise<Outcome | Death>((resolve) => {
      // It may also have died between two invocations, when nobody looked.
      if (this.#death !== undefined) return resolve(this.#death);
      const overdue = this.#endAfter(this.#timeoutSeconds);
      this.#finish = (outcome) => {
        clearTimeout(overdue);
        this.#finish = undefined;
        resolve(outcome);
      };
      const deadlineMs = Date.now() + this.#timeoutSeconds * 1000;
      this.#worker.postMessage({ ...order, deadlineMs } satisfies Order);
    });
    const durationMs = performance.now() - readyAtMs;
    if (typeof result === 'function') return { ok: false, error: result(order.requestId), durationMs };
    return { ...result, durationMs };
  }

  async end(): Promise<void> {
    this.#alive = false;
    await this.#worker.terminate();
  }

  #endAfter(seconds: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#death ??= timedOut(seconds);
      void this.end();
    }, seconds * 1000);
  }
}

let source: string | undefined;

/**
 * The runtime as plain JavaScript, stripped of its types once: a thread that has to strip them itself starts in
 * twice the time.
 */
function runtimeSource(): string {
  source ??= transformSync(readFileSync(new URL('./runtime.ts', import.meta.url), 'utf8'), {
    loader: 'ts',
    format: 'cjs',
    platform: 'node',
  }).code;
  return source;
}

function deathBy(error: unknown): Death {
  const { name, message, code } = error as Error & { code?: string };
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return exitError('with error: signal: killed');
  return () => ({ errorType: name, errorMessage: message, trace: [] });
}

function exited(code: number): Death {
  return exitError(code === 0 ? 'without providing a reason' : `with error: exit status ${code}`);
}

function exitError(how: string): Death {
  return (requestId) => ({
    errorType: 'Runtime.ExitError',
    errorMessage: `RequestId: ${requestId} Error: Runtime exited ${how}`,
  });
}

function timedOut(seconds: number): Death {
  return (requestId) => ({
    errorType: 'Sandbox.Timedout',
    errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds.toFixed(2)} seconds`,
  });
}
