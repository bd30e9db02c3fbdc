// Whether a component answers, asked from the host at the container's own address: the published port is opened by the
// engine and accepts connections before anybody listens behind it.

import { get } from 'node:http';
import { connect } from 'node:net';
import type Docker from 'dockerode';
import type { Container } from '../../functions/tasks/task.ts';
import { execute } from './exec.ts';

type Health = NonNullable<Container['health']>;

const OUTPUT_CHARACTERS_MAX = 1000;

export interface Probed {
  container: Docker.Container;
  /** Empty once it has ended; that would be taken for this host. */
  address: string;
}

/** Throws only where the engine does not answer; a component that does not is simply not ready. */
export async function isHealthy(
  { container, address }: Probed,
  { health, ports }: Container,
  signal: AbortSignal,
): Promise<boolean> {
  if (health === undefined) return true;
  const port = health.port ?? ports[0]?.container ?? 0;
  const timeoutMs = health.timeout_seconds * 1000;
  switch (health.kind) {
    case 'command': {
      const limits = { timeoutMs, outputCharactersMax: OUTPUT_CHARACTERS_MAX, signal };
      const { exitCode } = await execute(container, health.command ?? [], limits);
      return exitCode === 0;
    }
    case 'http':
      return address !== '' && answersHttp({ address, port, path: health.path ?? '/', timeoutMs, signal });
    case 'tcp':
      return address !== '' && acceptsTcp({ address, port, timeoutMs, signal });
    default:
      return unreachable(health.kind);
  }
}

interface Target {
  address: string;
  port: number;
  timeoutMs: number;
  signal: AbortSignal;
}

/** As load balancers count it: 2xx and 3xx. The body is not read. */
function answersHttp({
  address,
  port,
  path,
  timeoutMs,
  signal,
}: Target & { path: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const options = {
      host: address,
      port,
      path,
      agent: false,
      signal: ended,
      headers: { host: 'localhost' },
    };
    const request = get(options, ({ statusCode = 500 }) => {
      request.destroy();
      resolve(statusCode >= 200 && statusCode < 400);
    });
    request.on('error', () => resolve(false));
  });
}

function acceptsTcp({ address, port, timeoutMs, signal }: Target): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    const answer = (isOpen: boolean) => (): void => {
      socket.destroy();
      resolve(isOpen);
    };
    const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    ended.addEventListener('abort', answer(false), { once: true });
    socket.once('connect', answer(true));
    socket.once('error', answer(false));
  });
}

/** At which times after the start it is looked: often at first, as many are there at once. */
export function nextPauseMs(pauseMs: number, { interval_seconds }: Health): number {
  return Math.min(pauseMs * 1.3, interval_seconds * 1000, LONGEST_PAUSE_MS);
}
export const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1000;

function unreachable(kind: never): never {
  throw new Error(`There is no health check of kind ${String(kind)}.`);
}
