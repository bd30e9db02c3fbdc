import { createLog } from '../../functions/platform/log.ts';
import type { Log } from '../tasks/performer.ts';

/** The platform's own log: one JSON object a line, what looks like a secret left out. */
export function createAgentLog(fields: Record<string, unknown>): Log {
  const log = createLog(fields);
  return (level, message, about) => log[level](message, about);
}
