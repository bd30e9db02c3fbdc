// Every way a launch can fail has its code, and leaves nothing of what it had begun.

import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TaskFailed } from '../../../agent/tasks/performer.ts';
import { until } from '../../until.ts';
import { type ContainerInput, type EngineWorld, failureOf, openEngineWorld } from './world.ts';

let world: EngineWorld;

beforeAll(async () => {
  world = await openEngineWorld();
});
afterAll(() => world?.close());
afterEach(async () => expect(await world.leftovers()).toEqual([]));

const shell = (script: string): string[] => ['/bin/sh', '-c', script];
const launchFailure = (change: Partial<ContainerInput>, more: object = {}) =>
  failureOf(world.run('oci.launch', world.launchOf(world.container(change), more)));

const CASES: [what: string, code: string, change: () => Partial<ContainerInput>][] = [
  ['a program that ends', 'exited', () => ({ command: shell('exit 3') })],
  ['a program that is not there', 'exited', () => ({ command: ['/bin/nothing'] })],
  [
    'more memory than it may have',
    'out_of_memory',
    () => ({
      command: shell('exec /bin/tail /dev/zero'),
      resources: { memory_mib: 16 },
      health: { kind: 'tcp', port: 8080 },
    }),
  ],
  [
    'one that never answers',
    'not_ready_in_time',
    () => ({ command: ['/bin/sleep', '60'], health: { kind: 'http', port: 8080, start_seconds: 1 } }),
  ],
  [
    'one whose page is missing',
    'not_ready_in_time',
    () => ({ health: { kind: 'http', port: 8080, path: '/missing', start_seconds: 1 } }),
  ],
  [
    'a bootstrap that fails',
    'bootstrap_failed',
    () => ({ bootstrap: { command: shell('echo why; exit 4') } }),
  ],
  [
    'a bootstrap that does not end',
    'bootstrap_failed',
    () => ({ bootstrap: { command: ['/bin/sleep', '60'], timeout_seconds: 1 } }),
  ],
  [
    'a GPU that is not there',
    'gpu_unavailable',
    () => ({ resources: { memory_mib: 64, gpu_uuids: ['GPU-5d3b1f6e-1111-2222-3333-444455556666'] } }),
  ],
  [
    'a secret that nobody keeps',
    'secret_unavailable',
    () => ({ secrets: [{ handle: 'x'.repeat(43), path: '/run/secrets/token' }] }),
  ],
  ['a port outside the range', 'invalid_payload', () => ({ ports: [{ container: 8080, host: 80 }] })],
];

test.each(CASES)('%s: %s', async (_, code, change) => {
  expect(await launchFailure(change())).toMatchObject({ code });
});

test('what a failed bootstrap wrote comes back', async () => {
  const { result } = await launchFailure({ bootstrap: { command: shell('echo why; exit 4') } });
  expect(result?.bootstrap_output).toBe('why\n');
});

describe('ports', () => {
  let server: Server;
  afterEach(() => void server.close());

  test('one that somebody else listens on: port_taken', async () => {
    const port = world.portRange.to;
    server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect(await launchFailure({ ports: [{ container: 8080, host: port }] })).toMatchObject({
      code: 'port_taken',
    });
  });

  test('one that another workload has: port_taken, also while that is stopped', async () => {
    server = createServer();
    const port = world.portRange.to;
    const launch = world.launchOf(world.container({ ports: [{ container: 8080, host: port }] }));
    const { workload_id } = launch;
    await world.run('oci.launch', launch);
    await world.run('oci.control', { workload_id, action: 'stop' });
    expect(await launchFailure({ ports: [{ container: 8080, host: port }] })).toMatchObject({
      code: 'port_taken',
    });
    await world.run('oci.remove', { workload_id });
  });
});

describe('when the time is over', () => {
  const never = (): Partial<ContainerInput> => ({
    command: ['/bin/sleep', '600'],
    health: { kind: 'tcp', port: 8080 },
  });

  test('by the deadline, it fails and nothing stays', async () => {
    const controller = new AbortController();
    const launch = world.launchOf(world.container(never()));
    const task = world.taskOf('oci.launch', launch);
    const failing = failureOf(world.perform(task, { signal: controller.signal }));
    await until(async () => (await world.inspect(launch.workload_id).catch(() => undefined))?.State.Running);
    controller.abort(new TaskFailed('deadline_passed', 'Late.'));
    expect(await failing).toMatchObject({ code: 'deadline_passed' });
  });

  test('by the end of the agent, it is left to the next run, which ends it', async () => {
    const controller = new AbortController();
    const task = world.taskOf('oci.launch', world.launchOf(world.container()));
    const steps: string[] = [];
    const stopped = new Error('The agent stops.');
    const failing = failureOf(world.perform(task, { signal: controller.signal, steps }));
    await until(() => steps.includes('create_containers'));
    controller.abort(stopped);
    expect(await failing).toBe(stopped);
    expect(world.journal.getWorkload(task.payload.workload_id)?.desired).toBe('present');
    const next = world.openAgent();
    await next.converge();
    const { containers: [container] = [] } = await world.perform(task, { by: next });
    expect(container?.state).toBe('ready');
    const { workload_id } = task.payload;
    await world.perform(world.taskOf('oci.remove', { workload_id }), { by: next });
  });
});
