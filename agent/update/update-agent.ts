// Replaces the agent by a release the platform has signed. The task ends in another process than it began in: the new
// release resumes it from the journal and ends it once its trial is passed, or the old one does after the launcher went
// back.

import { hash } from 'node:crypto';
import * as v from 'valibot';
import { AgentRelease } from '../../functions/nodes/agent-api.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import type { Config } from '../config/config.ts';
import { askBytes, askJson } from '../platform/http.ts';
import { PlatformError } from '../platform/platform-error.ts';
import { DocumentRefused, verifyDocument } from '../platform/verify-document.ts';
import { type Performer, type TaskContext, TaskFailed } from '../tasks/performer.ts';
import { releaseFault, releasePath } from './judge-release.ts';
import { currentVersion, makeCurrent, removeOtherReleases, writeRelease } from './releases.ts';
import { beginTrial, readTrial, readWentBack } from './trial.ts';

const RELEASE_TYPE = 'gpuaas-agent-release+jwt';
const SignedRelease = v.object({ document: v.string() });

type Context = TaskContext<'agent.update'>;

export interface Update {
  config: Pick<Config, 'url' | 'host_key'>;
  stateDir: string;
  /** The one that runs. */
  version: string;
  /** Without a launcher nobody would go back. */
  hasLauncher: boolean;
  /** Resolves when the running release is not on trial any more. */
  trialPassed: Promise<void>;
  /** Ends this process so that the launcher starts `current`. */
  restart: () => void;
}

export function createUpdate(update: Update): Performer<'agent.update'> {
  return async (ctx) => {
    const { stateDir, version: running } = update;
    const { version, digest } = ctx.task.payload;
    const wentBack = readWentBack(stateDir);
    if (wentBack?.task_id === ctx.task.id) throw rejected(wentBack.reason);
    if (readTrial(stateDir)?.task_id === ctx.task.id && running === version) {
      await orAborted(update.trialPassed, ctx.signal);
      return { agent_version: running };
    }
    if (running === version) return { agent_version: running };
    if (!update.hasLauncher)
      throw rejected('The agent was started without its launcher, which has to go back if the update fails.');
    ctx.step('update.download', { version });
    const { bundle, release } = await download(update, ctx);
    const fault = releaseFault(release, ctx.task.payload, running);
    if (fault !== undefined) throw rejected(fault);
    if (`sha256:${hash('sha256', bundle)}` !== digest)
      throw rejected('The bundle has another digest than the release.');
    const previous = currentVersion(stateDir);
    if (previous === undefined)
      throw rejected('The agent does not run from a release, so there is no way back.');
    return install(update, ctx, bundle, previous);
  };
}

async function install(
  { stateDir, restart }: Update,
  ctx: Context,
  bundle: Uint8Array,
  previous: string,
): Promise<never> {
  const { version, digest, trial_seconds } = ctx.task.payload;
  ctx.step('update.write', { version });
  writeRelease(stateDir, version, bundle);
  removeOtherReleases(stateDir, [previous, version]);
  ctx.step('update.swap', { version });
  const deadline_at = secondsAfter(ctx.now(), trial_seconds).toISOString();
  // Marked before it is there: a new release that starts without a mark would never be taken back.
  beginTrial(stateDir, { task_id: ctx.task.id, version, digest, previous, deadline_at });
  makeCurrent(stateDir, version);
  restart();
  return orAborted(new Promise<never>(() => {}), ctx.signal);
}

async function download({ config }: Update, ctx: Context) {
  const { path } = ctx.task.payload;
  const { signal } = ctx;
  try {
    const signed = await askJson(
      config.url,
      { method: 'GET', path: releasePath(path), signal },
      SignedRelease,
    );
    const release = await verifyDocument(signed.document, config.host_key, AgentRelease, RELEASE_TYPE);
    const bundle = await askBytes(config.url, { method: 'GET', path, signal }, release.size_bytes);
    return { release, bundle };
  } catch (error) {
    if (error instanceof PlatformError || error instanceof DocumentRefused) throw rejected(error.message);
    throw error;
  }
}

const rejected = (detail: string): TaskFailed => new TaskFailed('update_rejected', detail);

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  return Promise.race([promise, aborted]);
}
