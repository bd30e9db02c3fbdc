import { Readable } from 'node:stream';
import type { Payload, TaskResult } from '../../functions/tasks/task.ts';
import { TaskFailed } from '../tasks/performer.ts';
import type { Engine } from './engine.ts';
import { unlessAbsent } from './engine-errors.ts';
import { frames } from './frames.ts';
import { containerName } from './labels.ts';
import type { Workload } from './workload.ts';

type Line = NonNullable<TaskResult['lines']>[number];

const LINE_CHARACTERS_MAX = 16 * 1024;
/** An answer has to fit into one request to the platform. */
const BYTES_MAX = 128 * 1024;

/** The last lines of all components together, in the order of their times. */
export async function readLogs(
  engine: Engine,
  workload: Workload,
  { component, lines: linesMax, since }: Payload<'logs.read'>,
): Promise<Line[]> {
  const components = workload.containers.filter(({ name }) => component === undefined || name === component);
  if (components.length === 0)
    throw new TaskFailed('workload_unknown', 'The workload has no such component.');
  const from = since === undefined ? undefined : new Date(since);
  const found = await Promise.all(
    components.map(({ name }) => readComponent(engine, workload.id, name, linesMax, from)),
  );
  return lastOf(
    found.flat().toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at))),
    linesMax,
  );
}

async function readComponent(
  { docker }: Engine,
  workloadId: string,
  component: string,
  tail: number,
  from: Date | undefined,
): Promise<Line[]> {
  const container = docker.getContainer(containerName(workloadId, component));
  const since = from === undefined ? {} : { since: Math.floor(from.getTime() / 1000) };
  const text = await unlessAbsent(
    container.logs({ follow: false, stdout: true, stderr: true, timestamps: true, tail, ...since }),
  );
  const lines: Line[] = [];
  for await (const frame of frames(Readable.from(text === undefined ? [] : [text]))) {
    const [, time, said] = /^(\S+) ([^]*)$/.exec(frame.text) ?? [];
    const at = new Date(time ?? '');
    if (said === undefined || Number.isNaN(at.getTime()) || (from && at < from)) continue;
    lines.push({
      at: at.toISOString(),
      component,
      stream: frame.stream,
      text: said.replace(/\n$/, '').slice(0, LINE_CHARACTERS_MAX),
    });
  }
  return lines;
}

function lastOf(lines: Line[], linesMax: number): Line[] {
  let bytes = 0;
  let begin = lines.length;
  while (begin > 0 && lines.length - begin < linesMax) {
    bytes += Buffer.byteLength(JSON.stringify(lines[begin - 1]));
    if (bytes > BYTES_MAX) break;
    begin -= 1;
  }
  return lines.slice(begin);
}
