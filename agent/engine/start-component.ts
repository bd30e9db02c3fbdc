import type Docker from 'dockerode';
import type { Container } from '../../functions/tasks/task.ts';
import { TaskFailed } from '../tasks/performer.ts';
import { orAborted, pause } from './deadline.ts';
import { execute } from './exec.ts';
import { isEngineGone, unlessSo } from './engine-errors.ts';
import { networkName } from './labels.ts';
import type { Parts } from './parts.ts';
import { FIRST_PAUSE_MS, isHealthy, nextPauseMs } from './probe.ts';
import type { Workload } from './workload.ts';

/** Of a component without a health check it is only known that its program did not end at once. */
const SETTLE_MS = 50;
const OUTPUT_CHARACTERS_MAX = 4000;

interface Start {
  handle: Docker.Container;
  signal: AbortSignal;
  runBootstrap: boolean;
}

/** Started, prepared and answering, or an error that says why not. Answers what its bootstrap wrote. */
export async function startComponent(
  parts: Parts,
  workload: Workload,
  container: Container,
  { handle, signal, runBootstrap }: Start,
): Promise<string | undefined> {
  const { states } = parts;
  const { state } = states.of(workload.id, container.name);
  if (state !== 'restarting') states.change(workload.id, container.name, { state: 'starting' });
  await unlessSo(handle.start());
  return whileRunning(handle, signal, async (running) => {
    const { bootstrap } = container;
    const output = bootstrap && runBootstrap ? await prepare(handle, bootstrap, running) : undefined;
    await awaitReady(parts, workload, container, handle, running);
    return output;
  });
}

/** Its end ends the waiting for it. */
async function whileRunning<T>(
  handle: Docker.Container,
  signal: AbortSignal,
  work: (running: AbortSignal) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const ended = new AbortController();
  const watching = handle
    .wait({ abortSignal: done.signal })
    .then(async () => ended.abort(await whyEnded(handle)))
    .catch((error: unknown) => {
      if (!done.signal.aborted) ended.abort(error);
    });
  try {
    const running = AbortSignal.any([signal, ended.signal]);
    return await orAborted(work(running), running);
  } catch (error) {
    // A command in a container that ends fails in its own words; why the container ended says more.
    if (!signal.aborted && !isEngineGone(error)) await Promise.race([watching, pause(SETTLE_MS, signal)]);
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    done.abort();
  }
}

async function whyEnded(handle: Docker.Container): Promise<TaskFailed> {
  const { State } = await handle.inspect();
  return State.OOMKilled
    ? new TaskFailed('out_of_memory', 'The container took more memory than it may have.')
    : new TaskFailed('exited', `The container ended with the status ${State.ExitCode}.`);
}

async function prepare(
  handle: Docker.Container,
  { command, timeout_seconds }: NonNullable<Container['bootstrap']>,
  signal: AbortSignal,
): Promise<string> {
  const limits = { timeoutMs: timeout_seconds * 1000, outputCharactersMax: OUTPUT_CHARACTERS_MAX, signal };
  const { exitCode, output } = await execute(handle, command, limits);
  if (exitCode === 0) return output;
  const why = exitCode === undefined ? 'did not end in time' : `ended with the status ${exitCode}`;
  throw new TaskFailed('bootstrap_failed', `The bootstrap command ${why}.`, { bootstrap_output: output });
}

/** Also for one that runs already: then it is only looked whether it answers. */
export async function awaitReady(
  { engine, states }: Pick<Parts, 'engine' | 'states'>,
  workload: Workload,
  container: Container,
  handle: Docker.Container,
  signal: AbortSignal,
): Promise<void> {
  const { health } = container;
  if (health === undefined) await pause(SETTLE_MS, signal);
  else {
    const address = await addressOf(handle, workload.id);
    const endMs = performance.now() + health.start_seconds * 1000;
    let pauseMs = FIRST_PAUSE_MS;
    while (!(await isHealthy({ container: handle, address }, container, signal))) {
      signal.throwIfAborted();
      if (performance.now() >= endMs)
        throw new TaskFailed(
          'not_ready_in_time',
          `${container.name} did not answer within ${health.start_seconds} s.`,
        );
      await pause(pauseMs, signal);
      pauseMs = nextPauseMs(pauseMs, health);
    }
  }
  signal.throwIfAborted();
  states.change(workload.id, container.name, { state: 'ready', readyAt: engine.now() });
}

/** On the workload's own network. */
export async function addressOf(handle: Docker.Container, workloadId: string): Promise<string> {
  const { NetworkSettings } = await handle.inspect();
  return NetworkSettings.Networks[networkName(workloadId)]?.IPAddress ?? '';
}
