// Loaded into the agent before the agent itself (`node --import`): tells of every step of the journal, and at some of
// them kills the process, as a power cut would. What was told is in a file, so that the next run knows of it.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { subscribe } from 'node:diagnostics_channel';
import { flushCompileCache } from 'node:module';
import type { JournalStep } from '../../../agent/journal/step-channel.ts';
import { KILL_POINTS_VARIABLE, type KillPoint, readSteps, type SeenStep, STEPS_VARIABLE } from './steps.ts';

const FETCH = 'fetch.kept';
const now = (): number => performance.timeOrigin + performance.now();
const { [STEPS_VARIABLE]: stepsFile, [KILL_POINTS_VARIABLE]: pointsFile } = process.env;

if (stepsFile !== undefined) {
  const seen = readSteps(stepsFile);
  const points: KillPoint[] =
    pointsFile !== undefined && existsSync(pointsFile)
      ? (JSON.parse(readFileSync(pointsFile, 'utf8')) as KillPoint[])
      : [];
  const done = new Set(seen.flatMap(({ killed }) => killed ?? []));
  const open = points.filter(({ id }) => !done.has(id));
  const counts = new Map<string, number>();
  let total = seen.length;
  /** The last task that came to its secrets. */
  let fetching = '';

  const isReached = (point: KillPoint, label: string, about: string): boolean => {
    if ('message' in point) return point.message === total;
    // A fetch has an id of its own, so it is not known whose it is where several tasks are at it: then it is anybody's.
    const isMeant = label === FETCH || point.about.some((id) => about.endsWith(id));
    if (point.label !== label || !isMeant) return false;
    const count = (counts.get(point.id) ?? 0) + 1;
    counts.set(point.id, count);
    return count === point.occurrence;
  };

  // Asked to, it collects what nobody uses any more, and says so.
  process.on('SIGUSR2', () => {
    (globalThis as { gc?: () => void }).gc?.();
    appendFileSync(
      stepsFile,
      `${JSON.stringify({ label: 'collected', about: '', atMs: now() } satisfies SeenStep)}\n`,
    );
  });

  subscribe('gpuaas.agent.step', (message) => {
    const step = message as JournalStep;
    const label = step.name === undefined ? step.kind : `${step.kind} ${step.name}`;
    if (step.name === 'fetch_secrets') fetching = step.about;
    const about = step.kind === FETCH ? fetching : step.about;
    total += 1;
    const reached = open.find((point) => isReached(point, label, about));
    const told: SeenStep = { label, about, atMs: now(), ...(reached && { killed: reached.id }) };
    appendFileSync(stepsFile, `${JSON.stringify(told)}\n`);
    if (!reached) return;
    // What was compiled is written when a process ends, which this one does not.
    flushCompileCache();
    process.kill(process.pid, 'SIGKILL');
  });
}
