// The engine says in words what went wrong; those who decide by it need a code of the closed list.

import { Refusal } from '../../functions/platform/errors.ts';
import type { TaskFailure } from '../../functions/tasks/task.ts';
import { TaskFailed } from '../tasks/performer.ts';

const DETAIL_CHARACTERS_MAX = 1000;

/** As engines from 20.10 on and their runtimes word it. The first that fits counts. */
const WORDS: [RegExp, TaskFailure][] = [
  [
    /could not select device driver|nvidia-container-(?:cli|runtime)|unresolvable CDI devices|libnvidia-ml|nvml error|unknown or invalid runtime name: (?:nvidia|amd)|failed to discover GPU/i,
    'gpu_unavailable',
  ],
  [/port is already allocated|address already in use|failed to bind (?:host )?port/i, 'port_taken'],
  [/no space left on device|disk quota exceeded/i, 'disk_full'],
  [/exec: "[^"]*"|executable file not found|unable to start container process|exec format error/i, 'exited'],
  [
    /all predefined address pools have been fully subnetted|non-overlapping IPv4 address pool/i,
    'engine_unavailable',
  ],
];

const GONE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ENOTCONN', 'ECONNABORTED']);

interface EngineError extends Error {
  /** Only where the engine has answered. */
  statusCode?: number;
  code?: string;
  json?: { message?: string };
}

export const statusOf = (error: unknown): number | undefined => (error as EngineError).statusCode;

/** No answer at all: it is down, or went down meanwhile. */
export function isEngineGone(error: unknown): boolean {
  const { statusCode, code, message } = error as EngineError;
  if (statusCode !== undefined) return false;
  return (code !== undefined && GONE.has(code)) || /socket hang up|^aborted$/.test(message ?? '');
}

/** What the engine is asked about has gone, or was never there. */
export async function unlessAbsent<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** 304: it is so already. */
export async function unlessSo(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (statusOf(error) !== 304) throw error;
  }
}

export function failureOf(error: unknown, otherwise: TaskFailure = 'internal'): TaskFailed {
  if (error instanceof TaskFailed) return error;
  if (error instanceof Refusal) return new TaskFailed('trust_unavailable', error.detail ?? error.message);
  if (isEngineGone(error))
    return new TaskFailed('engine_unavailable', 'The container engine does not answer.');
  const said = wordsOf(error);
  return new TaskFailed(codeOf(said) ?? otherwise, said);
}

export const codeOf = (said: string): TaskFailure | undefined =>
  WORDS.find(([words]) => words.test(said))?.[1];

/** Without what the client library puts before it. */
function wordsOf(error: unknown): string {
  const { json, message } = error as EngineError;
  return (json?.message ?? message ?? String(error)).slice(0, DETAIL_CHARACTERS_MAX);
}
