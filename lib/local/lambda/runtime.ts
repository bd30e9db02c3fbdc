// Runs inside a worker thread, as the runtime does inside a Lambda sandbox: loads the handler once, then
// answers one order at a time. Imports nothing of ours at run time (see sandbox.ts).

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { FunctionError, Order, Report, Startup } from './messages.ts';

type Handler = (event: unknown, context: object) => unknown;

const startup = workerData as Startup;
const report = (message: Report) => parentPort?.postMessage(message);

class RuntimeError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

// The thread is started from a string, and Node then gives it CommonJS globals that no ES module has at AWS.
for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) {
  Reflect.deleteProperty(globalThis, name);
}

// Output takes the same channel as results, so that a line written before the answer is logged before its END.
for (const stream of [process.stdout, process.stderr]) {
  stream.write = (chunk: string | Uint8Array, encoding?: unknown, done?: () => void) => {
    report({ kind: 'output', text: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8') });
    const written = typeof encoding === 'function' ? (encoding as () => void) : done;
    if (written) queueMicrotask(written);
    return true;
  };
}

process.on('uncaughtException', (error) => crash(describe(error)));
process.on('unhandledRejection', (reason) => {
  crash({
    ...describe(reason),
    errorType: 'Runtime.UnhandledPromiseRejection',
    errorMessage: String(reason),
  });
});

function crash(error: FunctionError): never {
  report({ kind: 'crashed', error });
  process.exit(1);
}

function describe(error: unknown): FunctionError {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  const trace = (error.stack ?? '').split('\n').filter((line) => !line.includes('[worker eval]'));
  return { errorType: error.name, errorMessage: error.message, trace };
}

async function loadHandler(): Promise<Handler> {
  const folder = join(startup.codeDir, dirname(startup.handler));
  const [moduleName = '', ...exportPath] = basename(startup.handler).split('.');
  const file = ['.mjs', '.js', '.cjs'].map((ending) => join(folder, moduleName + ending)).find(existsSync);
  if (file === undefined) {
    throw new RuntimeError('Runtime.ImportModuleError', `Error: Cannot find module '${moduleName}'`);
  }
  let found: unknown = await import(pathToFileURL(file).href);
  for (const name of exportPath) found = (found as Record<string, unknown> | undefined)?.[name];
  if (typeof found !== 'function') {
    const message = `${startup.handler} is undefined or not exported`;
    throw new RuntimeError('Runtime.HandlerNotFound', message);
  }
  if (found.length >= 3) {
    const message =
      'AWS Lambda has removed support for callback-based function handlers starting with Node.js 24.';
    throw new RuntimeError('Runtime.CallbackHandlerDeprecated', message);
  }
  return found as Handler;
}

function contextOf(order: Order): object {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: startup.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: startup.functionArn,
    memoryLimitInMB: String(startup.memoryMb),
    awsRequestId: order.requestId,
    logGroupName: startup.logGroupName,
    logStreamName: startup.logStreamName,
    getRemainingTimeInMillis: () => Math.max(0, order.deadlineMs - Date.now()),
  };
}

async function answer(handler: Handler, order: Order): Promise<void> {
  process.env['_X_AMZN_TRACE_ID'] = order.traceId;
  try {
    const result = await handler(JSON.parse(order.event), contextOf(order));
    report({ kind: 'succeeded', payload: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    report({ kind: 'failed', error: describe(error) });
  }
}

async function run(): Promise<void> {
  const handler = await loadHandler();
  parentPort?.on('message', (order: Order) => void answer(handler, order));
  report({ kind: 'ready' });
}

run().catch((error: unknown) => crash(describe(error)));
