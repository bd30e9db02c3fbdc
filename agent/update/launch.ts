// The launcher: starts the current release of the agent, starts it again when it ends, and goes back to the one before
// if a new one does not pass its trial. It is a process of its own that no update replaces while it runs.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { LAUNCHER_VARIABLE, STATE_DIR_VARIABLE } from '../config/config.ts';
import { backOffMs, pause } from '../platform/back-off.ts';
import type { Log } from '../tasks/performer.ts';
import { currentFile, makeCurrent } from './releases.ts';
import { noteWentBack, readTrial } from './trial.ts';

/** The agent ends with this to be started anew, from `current`. */
export const RESTART_CODE = 75;
/** Starting it again would not help: it is configured wrongly, or another has taken its place. */
const HOPELESS_CODE = 2;

const STOP_MS = 30_000;
/** A release on trial that ends so often by itself does not start. */
const TRIAL_ENDS_MAX = 3;
const STEADY_MS = 60_000;

export interface Launch {
  stateDir: string;
  log: Log;
  now: () => Date;
}

/** Ends when the signal is aborted, or with the agent's own code when it is hopeless. */
export async function launch(parts: Launch, signal: AbortSignal): Promise<number> {
  const { stateDir, log, now } = parts;
  let failures = 0;
  let trialEnds = 0;
  while (!signal.aborted) {
    const startedMs = now().getTime();
    const { code, isTrialOver } = await runOnce(parts, signal);
    if (signal.aborted) return 0;
    const trial = readTrial(stateDir);
    if (code === RESTART_CODE) {
      failures = trialEnds = 0;
      continue;
    }
    if (trial && (isTrialOver || ++trialEnds >= TRIAL_ENDS_MAX)) {
      const reason = isTrialOver
        ? `Version ${trial.version} had no heartbeat accepted within its trial; version ${trial.previous} runs again.`
        : `Version ${trial.version} ended ${trialEnds} times by itself, last with ${code}; version ${trial.previous} runs again.`;
      log('error', reason);
      makeCurrent(stateDir, trial.previous);
      noteWentBack(stateDir, { ...trial, reason });
      failures = trialEnds = 0;
      continue;
    }
    if (!trial && code === HOPELESS_CODE) return code;
    failures = now().getTime() - startedMs > STEADY_MS ? 1 : failures + 1;
    log('warn', 'The agent ended by itself and is started again.', { code, failures });
    await pause(backOffMs(failures), signal);
  }
  return 0;
}

/** One life of the agent. It is ended when we are, and when its trial is over. */
async function runOnce(parts: Launch, signal: AbortSignal): Promise<{ code: number; isTrialOver: boolean }> {
  const { stateDir, now } = parts;
  const quiet = '--disable-warning=ExperimentalWarning';
  const words = [quiet, currentFile(stateDir), 'run', '--state-dir', stateDir];
  const environment = { ...process.env, [LAUNCHER_VARIABLE]: '1', [STATE_DIR_VARIABLE]: stateDir };
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'inherit', 'inherit'], env: environment });
  const ended = once(child, 'close').then(
    ([code]) => (code as number | null) ?? 1,
    () => 1,
  );
  const stop = () => end(child);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let isTrialOver = false;
  const watch = setInterval(() => {
    const trial = readTrial(stateDir);
    if (!trial || isTrialOver || Date.parse(trial.deadline_at) > now().getTime()) return;
    isTrialOver = true;
    stop();
  }, TRIAL_LOOK_MS);
  try {
    return { code: await ended, isTrialOver };
  } finally {
    clearInterval(watch);
    signal.removeEventListener('abort', stop);
  }
}

const TRIAL_LOOK_MS = 1_000;

function end(child: ChildProcess): void {
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  child.once('close', () => clearTimeout(kill));
}
