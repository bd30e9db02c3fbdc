import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SelftestFailure } from './progress.ts';

/** Who passes each hop on: where a person finds out why it did not come. */
const PLACES: Record<SelftestFailure['hop'], string> = {
  accepted: 'the log of the function …-selftest-api',
  streamed:
    'the log of …-events-dispatch-events, which reads the control table’s stream, and the queue and the log of …-selftest-react-to-events, which it notifies',
  started:
    'the executions of …-run-selftest, the log of …-selftest-react-to-events, which starts them, and of …-selftest-dispatch-selftest, their first step',
  dispatched: 'the execution of …-run-selftest and the log of …-selftest-dispatch-selftest',
  answered: 'the task queue, its failure queue and the log of …-selftest-answer-selftest',
  finished: 'the execution of …-run-selftest and the log of …-selftest-end-selftest',
  pushed: 'the log of …-events-relay-events, which pushes events to their followers',
  subscribed: 'the logs of …-events-open-connection and …-events-receive-message',
  confirmed: 'the log of the function …-selftest-api',
};

export function whereToLook(hop: SelftestFailure['hop']): string {
  return PLACES[hop];
}

const DENIAL = /User: \S+ is not authorized to perform: \S+ on resource: [^\s"'\\,]+/g;
const DENIALS_MAX = 5;

/** What the functions of a platform on this machine were not allowed to do since then, from their logs. */
export function deniedSince(logDir: string, sinceMs: number): string[] {
  if (!existsSync(logDir)) return [];
  const files = globSync('**/*.log', { cwd: logDir }).map((name) => join(logDir, name));
  const denials = files
    .filter((file) => statSync(file).mtimeMs >= sinceMs)
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => timeOf(line) >= sinceMs)
    .flatMap((line) => line.match(DENIAL) ?? []);
  return [...new Set(denials)].slice(0, DENIALS_MAX);
}

// Functions write one JSON object a line, with its time; a line of another shape is not theirs.
function timeOf(line: string): number {
  return Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? '');
}
