import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { AwsError } from '../wire/aws.ts';
import type { Principals } from '../iam/principals.ts';
import { functionEnvironment, logGroupName } from './environment.ts';
import type { FunctionLog } from './function-log.ts';
import type { FunctionSpec } from './functions.ts';
import { pause } from './pause.ts';
import { Sandbox, type Outcome } from './sandbox.ts';

/** How many workers one function may have here, whatever AWS would allow it. */
export const WORKERS_MAX = 4;
/** An account's default concurrency at AWS: what may run or wait for one function. */
const CONCURRENCY_MAX = 1000;

export interface PoolOptions {
  principals: Pick<Principals, 'session'>;
  endpoint: () => string;
  log: FunctionLog;
  workerIdleMs: number;
}

interface Job {
  requestId: string;
  payload: Buffer;
  finish: (outcome: Outcome) => void;
  refuse: (error: AwsError) => void;
}

interface WarmWorker {
  sandbox: Sandbox;
  generation: number;
  invocations: number;
  idleTimer?: NodeJS.Timeout;
}

/** One function's workers: started when needed, kept warm, never more than WORKERS_MAX at once. */
export class FunctionPool {
  #spec: FunctionSpec;
  #options: PoolOptions;
  #generation = 0;
  #idle: WarmWorker[] = [];
  #busy = new Map<WarmWorker, Promise<void>>();
  #waiting: Job[] = [];
  #stopped = false;

  constructor(spec: FunctionSpec, options: PoolOptions) {
    this.#spec = spec;
    this.#options = options;
  }

  get spec(): FunctionSpec {
    return this.#spec;
  }

  /** Whatever runs finishes on the old code; everything from now on runs on the new. */
  replace(spec: FunctionSpec): void {
    if (isDeepStrictEqual(spec, this.#spec)) return;
    this.#spec = spec;
    this.#generation++;
    for (const worker of this.#idle.splice(0)) this.#end(worker);
    this.#assign();
  }

  invoke(requestId: string, payload: Buffer): Promise<Outcome> {
    if (this.#stopped) throw stopping();
    const concurrent = this.#busy.size + this.#waiting.length;
    if (concurrent >= (this.#spec.reservedConcurrency ?? CONCURRENCY_MAX)) {
      throw new AwsError('TooManyRequestsException', 'Rate Exceeded.', 429);
    }
    return new Promise((finish, refuse) => {
      this.#waiting.push({ requestId, payload, finish, refuse });
      this.#assign();
    });
  }

  /** Takes nothing new. What runs may go on for a while, then it is ended. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    for (const worker of this.#idle.splice(0)) this.#end(worker);
    for (const job of this.#waiting.splice(0)) job.refuse(stopping());
    const finished = Promise.all(this.#busy.values());
    await Promise.race([finished, pause(graceMs)]);
    await Promise.all([...this.#busy.keys()].map(({ sandbox }) => sandbox.end()));
    await finished;
  }

  #assign(): void {
    while (this.#waiting.length > 0 && this.#busyOnCurrentCode() < WORKERS_MAX) {
      const job = this.#waiting.shift();
      if (!job) return;
      try {
        const worker = this.#takeIdle() ?? this.#start();
        this.#busy.set(worker, this.#run(worker, job));
      } catch (error) {
        // Node refuses some variables before any code runs, such as NODE_OPTIONS that no thread can have.
        job.finish({ ok: false, error: { errorType: 'Runtime.ExitError', errorMessage: String(error) } });
      }
    }
  }

  /** Workers of former code finish by themselves: a stuck one must not keep the new code from being tried. */
  #busyOnCurrentCode(): number {
    return [...this.#busy.keys()].filter(({ generation }) => generation === this.#generation).length;
  }

  async #run(worker: WarmWorker, job: Job): Promise<void> {
    const { log } = this.#options;
    const { requestId } = job;
    log.write(`START RequestId: ${requestId} Version: $LATEST`);
    const isColdStart = worker.invocations++ === 0;
    const event = job.payload.length === 0 ? '{}' : job.payload.toString('utf8');
    const outcome = await worker.sandbox.invoke({ requestId, event, traceId: traceId() });
    const initMs = isColdStart ? worker.sandbox.initMs : undefined;
    if (!outcome.ok) log.write(`ERROR RequestId: ${requestId} ${JSON.stringify(outcome.error)}`);
    log.write(`END RequestId: ${requestId}`);
    log.write(reportLine(requestId, outcome.durationMs, this.#spec.memoryMb, initMs));
    this.#busy.delete(worker);
    this.#keepWarm(worker);
    job.finish(outcome);
    this.#assign();
  }

  #takeIdle(): WarmWorker | undefined {
    for (let worker = this.#idle.pop(); worker; worker = this.#idle.pop()) {
      clearTimeout(worker.idleTimer);
      if (this.#isUsable(worker)) return worker;
      this.#end(worker);
    }
    return undefined;
  }

  #keepWarm(worker: WarmWorker): void {
    if (!this.#isUsable(worker)) return this.#end(worker);
    worker.idleTimer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(worker), 1);
      this.#end(worker);
    }, this.#options.workerIdleMs).unref();
    this.#idle.push(worker);
  }

  #isUsable({ sandbox, generation }: WarmWorker): boolean {
    return !this.#stopped && sandbox.alive && generation === this.#generation;
  }

  #end(worker: WarmWorker): void {
    clearTimeout(worker.idleTimer);
    void worker.sandbox.end();
  }

  #start(): WarmWorker {
    const { principals, endpoint, log } = this.#options;
    const spec = this.#spec;
    const day = new Date().toISOString().slice(0, 10).replaceAll('-', '/');
    const logStreamName = `${day}/[$LATEST]${randomBytes(16).toString('hex')}`;
    const credentials = principals.session(spec.roleArn, spec.name);
    const sandbox = new Sandbox({
      startup: {
        codeDir: spec.codeDir,
        handler: spec.handler,
        functionName: spec.name,
        functionArn: spec.arn,
        memoryMb: spec.memoryMb,
        logGroupName: logGroupName(spec.name),
        logStreamName,
      },
      env: functionEnvironment(spec, endpoint(), credentials, logStreamName),
      timeoutSeconds: spec.timeoutSeconds,
      output: (text) => log.write(text),
    });
    return { sandbox, generation: this.#generation, invocations: 0 };
  }
}

function stopping(): AwsError {
  return new AwsError(
    'ServiceException',
    'The function is being removed or the local engine is stopping.',
    503,
  );
}

function reportLine(
  requestId: string,
  durationMs: number,
  memoryMb: number,
  initMs: number | undefined,
): string {
  const parts = [
    `REPORT RequestId: ${requestId}`,
    `Duration: ${durationMs.toFixed(2)} ms`,
    `Billed Duration: ${Math.ceil(durationMs + (initMs ?? 0))} ms`,
    `Memory Size: ${memoryMb} MB`,
    ...(initMs === undefined ? [] : [`Init Duration: ${initMs.toFixed(2)} ms`]),
  ];
  return parts.join('\t');
}

function traceId(): string {
  const seconds = Math.floor(Date.now() / 1000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString('hex')};Parent=${randomBytes(8).toString('hex')};Sampled=0`;
}
