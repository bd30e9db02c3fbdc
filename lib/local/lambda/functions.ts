import { randomUUID } from 'node:crypto';
import { AwsError } from '../wire/aws.ts';
import type { Journal } from '../journal/journal.ts';
import type { Principals } from '../iam/principals.ts';
import { AsyncInvocations } from './async-invocations.ts';
import type { Deliver } from './deliver.ts';
import { FunctionLog } from './function-log.ts';
import { FunctionPool } from './pool.ts';
import type { Outcome } from './sandbox.ts';

const SYNC_PAYLOAD_BYTES_MAX = 6 * 1024 * 1024;
const ASYNC_PAYLOAD_BYTES_MAX = 1024 * 1024;
const WORKER_IDLE_MS = 5 * 60_000;
/** AWS waits one minute, then two; nobody developing wants to. */
const ASYNC_RETRY_DELAYS_MS = [1000, 2000];
const STOP_GRACE_MS = 3000;

export interface FunctionSpec {
  name: string;
  arn: string;
  roleArn: string;
  /** The unzipped asset. */
  codeDir: string;
  /** `index.handler` */
  handler: string;
  environment: Record<string, string>;
  timeoutSeconds: number;
  memoryMb: number;
  reservedConcurrency?: number;
  asyncRetriesMax: number;
  asyncAgeSecondsMax: number;
  asyncOnFailureArn?: string;
}

/** The payload of a failure is the JSON error object AWS answers with. */
export type Invocation =
  { ok: true; payload: Buffer } | { ok: false; errorType: string; errorMessage: string; payload: Buffer };

export interface FunctionsOptions {
  principals: Pick<Principals, 'session'>;
  journal: Journal;
  endpoint: () => string;
  logDir: string;
  deliver: Deliver;
  workerIdleMs?: number;
  asyncRetryDelaysMs?: number[];
}

interface Hosted {
  pool: FunctionPool;
  log: FunctionLog;
}

/** Every function of the template, each in its own workers with exactly its own environment. */
export class Functions {
  #options: FunctionsOptions;
  #hosted = new Map<string, Hosted>();
  #async: AsyncInvocations;

  constructor(options: FunctionsOptions) {
    this.#options = options;
    this.#async = new AsyncInvocations({
      journal: options.journal,
      deliver: options.deliver,
      retryDelaysMs: options.asyncRetryDelaysMs ?? ASYNC_RETRY_DELAYS_MS,
      find: (name) => this.get(name),
      invoke: (name, payload, requestId) => this.invoke(name, payload, requestId),
    });
  }

  put(spec: FunctionSpec): void {
    const hosted = this.#hosted.get(spec.name);
    if (hosted) return hosted.pool.replace(spec);
    const log = new FunctionLog(this.#options.logDir, spec.name);
    const { principals, endpoint, workerIdleMs = WORKER_IDLE_MS } = this.#options;
    this.#hosted.set(spec.name, {
      pool: new FunctionPool(spec, { principals, endpoint, log, workerIdleMs }),
      log,
    });
  }

  keepOnly(names: Set<string>): void {
    for (const [name, hosted] of this.#hosted) {
      if (names.has(name)) continue;
      this.#hosted.delete(name);
      void retire(hosted, hosted.pool.spec.timeoutSeconds * 1000);
    }
  }

  get(nameOrArn: string): FunctionSpec | undefined {
    return this.#hosted.get(functionName(nameOrArn))?.pool.spec;
  }

  async invoke(nameOrArn: string, payload: Buffer, requestId: string = randomUUID()): Promise<Invocation> {
    const { pool } = this.#find(nameOrArn);
    checkPayload(payload, SYNC_PAYLOAD_BYTES_MAX);
    return toInvocation(await pool.invoke(requestId, payload));
  }

  invokeAsync(nameOrArn: string, payload: Buffer): void {
    const { pool } = this.#find(nameOrArn);
    checkPayload(payload, ASYNC_PAYLOAD_BYTES_MAX);
    this.#async.add(pool.spec.name, payload);
  }

  start(): void {
    this.#async.start();
  }

  /** What runs may finish if it is quick about it; asynchronous invocations that don't are taken up again. */
  async stop(): Promise<void> {
    const settled = this.#async.stop();
    await Promise.all([...this.#hosted.values()].map((hosted) => retire(hosted, STOP_GRACE_MS)));
    await settled;
  }

  #find(nameOrArn: string): Hosted {
    const hosted = this.#hosted.get(functionName(nameOrArn));
    if (!hosted) {
      throw new AwsError('ResourceNotFoundException', `Function not found: ${functionName(nameOrArn)}`, 404);
    }
    return hosted;
  }
}

async function retire({ pool, log }: Hosted, graceMs: number): Promise<void> {
  await pool.stop(graceMs);
  log.close();
}

/** From a name, a partial or a full ARN, each with or without a qualifier. */
export function functionName(nameOrArn: string): string {
  const parts = nameOrArn.split(':');
  const at = parts.indexOf('function');
  return parts[at + 1] ?? nameOrArn;
}

function checkPayload(payload: Buffer, bytesMax: number): void {
  if (payload.length > bytesMax) {
    const message = `Request must be smaller than ${bytesMax} bytes for the InvokeFunction operation`;
    throw new AwsError('RequestEntityTooLargeException', message, 413);
  }
  if (payload.length === 0) return;
  try {
    JSON.parse(payload.toString('utf8'));
  } catch (error) {
    const message = `Could not parse request body into json: ${(error as Error).message}`;
    throw new AwsError('InvalidRequestContentException', message);
  }
}

function toInvocation(outcome: Outcome): Invocation {
  if (outcome.ok && outcome.payload.length <= SYNC_PAYLOAD_BYTES_MAX)
    return { ok: true, payload: outcome.payload };
  const error = outcome.ok
    ? {
        errorType: 'Function.ResponseSizeTooLarge',
        errorMessage: `Response payload size (${outcome.payload.length} bytes) exceeded maximum allowed payload size (${SYNC_PAYLOAD_BYTES_MAX} bytes).`,
      }
    : outcome.error;
  const { errorType, errorMessage } = error;
  return { ok: false, errorType, errorMessage, payload: Buffer.from(JSON.stringify(error)) };
}
