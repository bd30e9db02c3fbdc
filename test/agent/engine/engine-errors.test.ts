import { describe, expect, test } from 'vitest';
import { codeOf, failureOf, isEngineGone } from '../../../agent/engine/engine-errors.ts';
import { TaskFailed } from '../../../agent/tasks/performer.ts';

/** As engines, the NVIDIA toolkit and runtimes have said it. */
const RECORDED: [said: string, code: string][] = [
  ['could not select device driver "nvidia" with capabilities: [[gpu]]', 'gpu_unavailable'],
  [
    "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0: error running hook: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: device error: GPU-5d3b1f6e-1111-2222-3333-444455556666: unknown device: unknown",
    'gpu_unavailable',
  ],
  ['nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown', 'gpu_unavailable'],
  [
    'failed to create task for container: CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=MIG-0a1b',
    'gpu_unavailable',
  ],
  ['unknown or invalid runtime name: amd', 'gpu_unavailable'],
  [
    'driver failed programming external connectivity on endpoint x: Bind for 127.0.0.1:20000 failed: port is already allocated',
    'port_taken',
  ],
  [
    'driver failed programming external connectivity on endpoint x: Error starting userland proxy: listen tcp4 127.0.0.1:20000: bind: address already in use',
    'port_taken',
  ],
  ['failed to bind host port for 127.0.0.1:20000:172.18.0.2:8080/tcp: address already in use', 'port_taken'],
  ['write /var/lib/docker/tmp/GetImageBlob1: no space left on device', 'disk_full'],
  ['failed to register layer: ApplyLayer: write /model.bin: disk quota exceeded', 'disk_full'],
  [
    'failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/bin/nothing": stat /bin/nothing: no such file or directory: unknown',
    'exited',
  ],
  [
    'could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network',
    'engine_unavailable',
  ],
];

test.each(RECORDED)('%s', (said, code) => expect(codeOf(said)).toBe(code));

describe('an error', () => {
  test('that nobody knows is internal, or what its caller says', () => {
    expect(failureOf(new Error('something')).code).toBe('internal');
    expect(failureOf(new Error('something'), 'image_pull_failed').code).toBe('image_pull_failed');
  });

  test('of a task stays what it is', () => {
    const failed = new TaskFailed('revoked', 'It was revoked.');
    expect(failureOf(failed)).toBe(failed);
  });

  test('without an answer means that the engine is away; one the engine reports of a registry does not', () => {
    const away = Object.assign(new Error('connect ECONNREFUSED /run/docker.sock'), { code: 'ECONNREFUSED' });
    expect(isEngineGone(away)).toBe(true);
    expect(failureOf(away).code).toBe('engine_unavailable');
    expect(isEngineGone(new Error('socket hang up'))).toBe(true);
    const reported = Object.assign(new Error('dial tcp 127.0.0.1:1: connect: connection refused'), {
      statusCode: 500,
    });
    expect(isEngineGone(reported)).toBe(false);
  });
});
