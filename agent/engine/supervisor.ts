// What happens to a workload after it was ready: its health is watched, what ends or does not answer is restarted, a
// bounded number of times and ever later, and each change is told to the platform.

import type { Container } from '../../functions/tasks/task.ts';
import type { WorkloadRecord } from '../tasks/performer.ts';
import { bringUp } from './bring-up.ts';
import { pause } from './deadline.ts';
import { failureOf, isEngineGone, unlessAbsent, unlessSo } from './engine-errors.ts';
import { containerName } from './labels.ts';
import type { Parts } from './parts.ts';
import { isHealthy } from './probe.ts';
import { addressOf } from './start-component.ts';
import { overall, readStatus } from './status.ts';
import { recordedWorkload, type Workload } from './workload.ts';

const BACK_OFF_MS = 500;
const BACK_OFF_MS_MAX = 60_000;
/** Whoever ran so long may fail as often again. */
const FORGIVEN_MS = 10 * 60_000;

/** No restart helps; the platform has to decide. */
const FINAL = new Set(['revoked', 'signature_rejected', 'root_refused', 'volume_unknown']);
/** The component is not to blame. */
const ELSEWHERE = new Set(['trust_unavailable', 'image_pull_failed', 'isolation_unavailable']);

type Reason = 'exited' | 'unhealthy';

export class Supervisor {
  #parts: Parts;
  /** While somebody watches. */
  #signal: AbortSignal = AbortSignal.abort();
  #watched = new Map<string, AbortController>();
  #recovering = new Set<string>();
  /** Ended while it was being recovered: perhaps just after it was ready again. */
  #endedMeanwhile = new Set<string>();
  #told = new Map<string, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  begin(signal: AbortSignal): void {
    this.#signal = signal;
  }

  adopt(workload: Workload): void {
    this.release(workload.id);
    if (this.#signal.aborted) return;
    const ended = new AbortController();
    this.#watched.set(workload.id, ended);
    const signal = AbortSignal.any([this.#signal, ended.signal]);
    for (const container of workload.containers) void this.#watchHealth(workload, container, signal);
  }

  release(workloadId: string): void {
    this.#watched.get(workloadId)?.abort();
    this.#watched.delete(workloadId);
    this.#told.delete(workloadId);
  }

  isWatched(workloadId: string): boolean {
    return this.#watched.has(workloadId);
  }

  async #watchHealth(workload: Workload, container: Container, signal: AbortSignal): Promise<void> {
    const { health, name } = container;
    if (health === undefined) return;
    const { engine, states } = this.#parts;
    const handle = engine.docker.getContainer(containerName(workload.id, name));
    let failures = 0;
    while (!signal.aborted) {
      await pause(health.interval_seconds * 1000, signal);
      if (signal.aborted) return;
      if (states.of(workload.id, name).state !== 'ready') continue;
      const isWell = await addressOf(handle, workload.id)
        .then((address) => isHealthy({ container: handle, address }, container, signal))
        // The engine is away, or the container: then others notice.
        .catch(() => undefined);
      if (isWell === undefined || signal.aborted) continue;
      failures = isWell ? 0 : failures + 1;
      if (failures < health.failures) continue;
      failures = 0;
      states.change(workload.id, name, { state: 'unhealthy' });
      await this.recover(workload.id, name, 'unhealthy');
    }
  }

  /** Tries until the component is ready, the workload is not wanted any more, or its restarts are used up. */
  async recover(workloadId: string, component: string, reason: Reason): Promise<void> {
    const key = containerName(workloadId, component);
    if (this.#signal.aborted) return;
    if (this.#recovering.has(key)) {
      if (reason === 'exited') this.#endedMeanwhile.add(key);
      return;
    }
    this.#recovering.add(key);
    try {
      for (let attempt = 0; ; attempt += 1) {
        if (!(await this.#mayRestart(workloadId, component, reason))) break;
        await pause(Math.min(BACK_OFF_MS * 2 ** attempt, BACK_OFF_MS_MAX), this.#signal);
        if (this.#signal.aborted || (await this.#restart(workloadId, component, reason))) break;
      }
    } catch (error) {
      // The engine went away: once it is back, everything is looked at.
      if (!isEngineGone(error))
        this.#parts.engine.log('error', 'A component could not be restarted.', { error: String(error) });
    } finally {
      this.#recovering.delete(key);
    }
    if (this.#endedMeanwhile.delete(key)) await this.recover(workloadId, component, 'exited');
  }

  /** Counts the restart, or gives up. */
  async #mayRestart(workloadId: string, component: string, reason: Reason): Promise<boolean> {
    const { locks, states, engine } = this.#parts;
    let mayRestart = false;
    await locks.background(workloadId, async () => {
      const found = this.#find(workloadId, component);
      if (!found) return;
      const handle = engine.docker.getContainer(containerName(workloadId, component));
      const inspected = await unlessAbsent(handle.inspect());
      if (reason === 'exited' && inspected?.State.Running) return;
      const { restarts, readyAt } = states.of(workloadId, component);
      const isForgiven = readyAt !== undefined && engine.now().getTime() - readyAt.getTime() > FORGIVEN_MS;
      const count = isForgiven ? 0 : restarts;
      mayRestart = count < found.container.restarts;
      const state = mayRestart ? 'restarting' : 'exited';
      states.change(workloadId, component, { state, restarts: mayRestart ? count + 1 : count });
      if (!mayRestart && inspected?.State.Running)
        await unlessAbsent(unlessSo(handle.stop({ t: found.workload.stop_grace_seconds })));
      await this.tell(
        workloadId,
        mayRestart ? undefined : `${component} was restarted ${count} times in vain.`,
      );
    });
    return mayRestart;
  }

  /** Whether it is over: it is ready, not wanted, or beyond help. */
  async #restart(workloadId: string, component: string, reason: Reason): Promise<boolean> {
    const { locks, states, engine } = this.#parts;
    let isOver = true;
    await locks.background(workloadId, async (signal) => {
      const found = this.#find(workloadId, component);
      if (!found) return;
      const { workload, container } = found;
      try {
        const handle = engine.docker.getContainer(containerName(workloadId, component));
        if (reason === 'unhealthy')
          await unlessAbsent(unlessSo(handle.stop({ t: workload.stop_grace_seconds })));
        const step = (): void => undefined;
        // By what is known of trust now: what was revoked since does not start again.
        await bringUp(this.#parts, workload, { trustRevision: 0, signal, step, bootstrap: 'if_created' }, [
          container,
        ]);
        if (!this.isWatched(workloadId)) this.adopt(workload);
        await this.tell(workloadId);
      } catch (error) {
        if (isEngineGone(error) || signal.aborted) {
          states.change(workloadId, component, { restarts: states.of(workloadId, component).restarts - 1 });
          throw error;
        }
        const failure = failureOf(error);
        isOver = FINAL.has(failure.code);
        const { restarts } = states.of(workloadId, component);
        if (ELSEWHERE.has(failure.code)) states.change(workloadId, component, { restarts: restarts - 1 });
        if (isOver) states.change(workloadId, component, { state: 'exited' });
        await this.tell(workloadId, `${component}: ${failure.code}: ${failure.message}`);
      }
    });
    return isOver;
  }

  #find(workloadId: string, component: string): { workload: Workload; container: Container } | undefined {
    const record = this.#parts.engine.journal.getWorkload(workloadId);
    if (record?.desired !== 'present') return undefined;
    const workload = recordedWorkload(record);
    const container = workload.containers.find(({ name }) => name === component);
    return container && { workload, container };
  }

  /** Only what has changed. */
  async tell(workloadId: string, detail?: string): Promise<void> {
    const { engine, states } = this.#parts;
    const record: WorkloadRecord | undefined = engine.journal.getWorkload(workloadId);
    if (!record || record.desired === 'absent') return;
    const workload = recordedWorkload(record);
    const containers = await readStatus(engine, workload, record.desired, states);
    const hasGivenUp = workload.containers.some(({ name }) => states.of(workloadId, name).state === 'exited');
    const state = overall(containers, record.desired, hasGivenUp);
    const said = JSON.stringify({ state, containers, detail });
    if (this.#told.get(workloadId) === said) return;
    this.#told.set(workloadId, said);
    engine.channel.tellWorkload(workloadId, {
      fence: record.fence,
      at: engine.now().toISOString(),
      state,
      containers,
      ...(detail !== undefined && { detail: detail.slice(0, 2000) }),
    });
  }
}
