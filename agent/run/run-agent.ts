// The agent from its start to its end: lock, journal, converge, then poll, watch and tell.

import { composeAgent } from './compose-agent.ts';
import type { Config } from '../config/config.ts';
import { sendHeartbeats, type Vitals } from '../heartbeat/heartbeat.ts';
import { readVitals } from '../heartbeat/vitals.ts';
import { localChecks } from '../host/checks.ts';
import { diagnose, problemsOf } from '../host/doctor.ts';
import { readInventory } from '../host/inventory.ts';
import { keepInventory } from '../host/keep-inventory.ts';
import { runTool } from '../host/run-tool.ts';
import { openJournal } from '../journal/journal.ts';
import { lockStateDir } from '../lock/lock.ts';
import { pause } from '../platform/back-off.ts';
import { markForgotten } from '../platform/mark-forgotten.ts';
import { pollQueue } from '../queue/poll-queue.ts';
import type { Log } from '../tasks/performer.ts';
import { runTask, subjectOf } from '../runner/run-task.ts';
import { AgentStopping } from '../runner/stopping.ts';
import { agentVersion } from '../config/version.ts';

const PRUNE_MS = 3600_000;
const CHECK_MS = 10 * 60_000;
/** Tasks are aborted at once; those that do not heed it are left to the next run. */
const STOP_MS = 20_000;
const FLUSH_MS = 5_000;

export interface Agent {
  config: Config;
  stateDir: string;
  log: Log;
  now: () => Date;
}

/** Ends when the signal is aborted, or to be started anew. Rejects if it cannot go on. */
export async function runAgent(agent: Agent, signal: AbortSignal): Promise<'stopped' | 'restart'> {
  const lock = lockStateDir(agent.stateDir);
  try {
    const journal = openJournal(agent.stateDir, agent.now);
    try {
      return await runLocked(agent, journal, signal);
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
}

type Ending = 'stopped' | 'restart' | Error;

async function runLocked(
  { config, stateDir, log, now }: Agent,
  journal: ReturnType<typeof openJournal>,
  signal: AbortSignal,
): Promise<'stopped' | 'restart'> {
  const stopping = new AbortController();
  const { promise: ending, resolve: end } = Promise.withResolvers<Ending>();
  const parts = composeAgent({ config, stateDir, journal, restart: () => end('restart'), log, now });
  const { ask, access, docker, engine, lanes, runner, sender, trial } = parts;
  const stop = () => end('stopped');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();

  log('info', 'The agent starts.', { version: agentVersion, node_id: config.node_id });
  const talking = new AbortController();
  const problems = keepProblems(() => diagnose(localChecks(docker, stateDir, runTool)).then(problemsOf));
  const look = async (): Promise<Vitals> => ({
    ...(await readVitals(stateDir)),
    workloads: journal.workloads.listWorkloads().length,
    ...problems(now()),
  });
  const background = (work: Promise<void>) => void work.catch((error: unknown) => end(asError(error)));
  const heartbeats = { nodeId: config.node_id, ask, seconds: config.heartbeat_seconds, look, log, now };
  // Without an engine a host is still there, says what is wrong with it, and answers tasks; the watch below brings things
  // in order when the engine returns.
  const converge = () =>
    engine.converge().catch((error: unknown) => {
      log('error', 'What this host holds could not be brought in order.', { error });
    });
  const heedPlatform = () =>
    markForgotten(ask, config.node_id, journal.workloads, talking.signal).then(
      (marked) => (marked > 0 ? converge() : undefined),
      (error: unknown) => log('warn', 'The platform did not say what is to be on this host.', { error }),
    );
  const onReturn = () => void heedPlatform();
  background(sendHeartbeats({ ...heartbeats, onAccepted: trial.heard, onReturn }, talking.signal));
  background(sender.run(talking.signal));
  background(keepPruned(journal, talking.signal));

  const work = async (): Promise<void> => {
    await converge();
    trial.converged();
    void heedPlatform();
    background(engine.watch(stopping.signal));
    const read = () => readInventory(docker);
    background(keepInventory({ nodeId: config.node_id, ask, read, log }, talking.signal));
    const run = (text: string) => runTask(runner, text, stopping.signal);
    const resumed = journal.tasks.unended().map((text) => lanes.run(subjectOf(text), () => run(text)));
    await Promise.all([...resumed, pollQueue({ access, lanes, run, log }, stopping.signal)]);
  };
  const worked = work().catch((error: unknown) => end(asError(error)));

  const how = await ending;
  signal.removeEventListener('abort', stop);
  log('info', 'The agent stops.', { how: how instanceof Error ? how.message : how });
  stopping.abort(new AgentStopping());
  await within(STOP_MS, worked);
  talking.abort();
  await sender.flush(AbortSignal.timeout(FLUSH_MS)).catch(() => undefined);
  if (how instanceof Error) throw how;
  return how;
}

async function keepPruned(journal: { prune(): void }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    journal.prune();
    await pause(PRUNE_MS, signal);
  }
}

/** Looking takes longer than a heartbeat may wait: it tells what was found last. */
function keepProblems(look: () => Promise<string[]>): (now: Date) => Pick<Vitals, 'problems'> {
  let lookedMs = -Infinity;
  let found: Pick<Vitals, 'problems'> = {};
  return (now) => {
    if (now.getTime() - lookedMs >= CHECK_MS) {
      lookedMs = now.getTime();
      void look().then((problems) => (found = { problems }));
    }
    return found;
  };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const patience = new AbortController();
  await Promise.race([work, pause(ms, patience.signal)]);
  patience.abort();
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
