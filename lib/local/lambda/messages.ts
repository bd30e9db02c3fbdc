// What travels between the engine and a worker thread that runs a function.

/** The object Lambda answers with when a function fails. */
export interface FunctionError {
  errorType: string;
  errorMessage: string;
  trace?: string[];
}

export interface Startup {
  codeDir: string;
  handler: string;
  functionName: string;
  functionArn: string;
  memoryMb: number;
  logGroupName: string;
  logStreamName: string;
}

export interface Order {
  requestId: string;
  event: string;
  deadlineMs: number;
  traceId: string;
}

export type Report =
  | { kind: 'ready' }
  | { kind: 'output'; text: string }
  | { kind: 'succeeded'; payload: string }
  | { kind: 'failed'; error: FunctionError }
  /** Whatever was under way is lost and so is the worker: initialization threw, or nobody caught an error. */
  | { kind: 'crashed'; error: FunctionError };
