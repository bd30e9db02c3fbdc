// Which port of the host's 127.0.0.1 a container is published at. A choice is written to the journal with the workload:
// whatever is made again later gets the same port.

import { createServer } from 'node:net';
import { TaskFailed } from '../tasks/performer.ts';
import type { Engine } from './engine.ts';
import { type LaunchPayload, mapContainers, payloadOf, workloadOf } from './workload.ts';

export class Ports {
  #engine: Engine;
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** One after the other: what one has chosen is recorded before the next chooses. */
  choose<P extends LaunchPayload>(payload: P, record: (chosen: P) => void): Promise<P> {
    const turn = this.#take(this.#last, payload, record);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #take<P extends LaunchPayload>(
    before: Promise<unknown>,
    payload: P,
    record: (chosen: P) => void,
  ): Promise<P> {
    await before;
    const chosen = await this.#choose(payload);
    record(chosen);
    return chosen;
  }

  async #choose<P extends LaunchPayload>(payload: P): Promise<P> {
    const { journal, portRange } = this.#engine;
    const others = journal.listWorkloads().filter(({ workload_id }) => workload_id !== payload.workload_id);
    const taken = new Set(others.flatMap((record) => portsOf(payloadOf(record))));
    for (const port of portsOf(payload).filter((port) => port !== 0)) {
      if (port < portRange.from || port > portRange.to)
        throw new TaskFailed('invalid_payload', `The port ${port} is not in this host's range.`);
      if (taken.has(port) || !(await isFree(port)))
        throw new TaskFailed('port_taken', `The port ${port} is taken on this host.`);
      taken.add(port);
    }
    const free: number[] = [];
    for (const port of portsOf(payload)) if (port === 0) free.push(await this.#nextFree(taken));
    return mapContainers(payload, (container) => ({
      ...container,
      ports: container.ports.map((port) => (port.host === 0 ? { ...port, host: free.shift() ?? 0 } : port)),
    }));
  }

  async #nextFree(taken: Set<number>): Promise<number> {
    const { from, to } = this.#engine.portRange;
    for (let port = from; port <= to; port += 1) {
      if (taken.has(port)) continue;
      taken.add(port);
      if (await isFree(port)) return port;
    }
    throw new TaskFailed('port_taken', 'No port of this host is free.');
  }
}

const portsOf = (payload: LaunchPayload): number[] =>
  workloadOf(payload, 0).containers.flatMap(({ ports }) =>
    ports.flatMap(({ host }) => (host === undefined ? [] : [host])),
  );

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
