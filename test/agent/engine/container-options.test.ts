// What is sent to the engine, GPUs above all: there is none on the machines these tests run on.

import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { containerOptions } from '../../../agent/engine/container-options.ts';
import { gpuOptions } from '../../../agent/engine/gpu.ts';
import type { Workload } from '../../../agent/engine/workload.ts';
import { Container } from '../../../functions/tasks/task.ts';

const GPU = 'GPU-5d3b1f6e-1111-2222-3333-444455556666';
const MIG = 'MIG-0a1b2c3d-1111-2222-3333-444455556666';

const container = (change: object = {}): Container =>
  v.parse(Container, {
    name: 'main',
    repository: 'gpuaas/apps/example/web',
    digest: `sha256:${'a'.repeat(64)}`,
    ...change,
  });

const optionsOf = (change: object = {}, image: { env?: string[]; volumes?: string[] } = {}) => {
  const only = container(change);
  const workload: Workload = {
    id: randomUUID(),
    fence: 1,
    kind: 'oci',
    allocation_id: randomUUID(),
    project_id: randomUUID(),
    containers: [only],
    volumes: [],
    stop_grace_seconds: 30,
  };
  return containerOptions({
    nodeId: randomUUID(),
    workload,
    container: only,
    image: 'registry/web@sha256:a',
    imageEnv: image.env ?? [],
    imageVolumes: image.volumes ?? [],
    user: { uid: 64_000, gid: 64_000 },
    runtimes: ['runc', 'nvidia'],
  });
};

describe('GPUs', () => {
  test('are asked for by uuid, parts of one too, and never by number or all', () => {
    const { HostConfig, Env } = optionsOf({ resources: { gpu_uuids: [GPU, MIG] } });
    expect(HostConfig?.DeviceRequests).toEqual([
      { Driver: 'nvidia', DeviceIDs: [GPU, MIG], Capabilities: [['gpu']] },
    ]);
    expect(HostConfig?.Devices).toEqual([]);
    expect(Env).toContain(`NVIDIA_VISIBLE_DEVICES=${GPU},${MIG}`);
    expect(Env).toContain('NVIDIA_DRIVER_CAPABILITIES=compute,utility');
  });

  test('an image that asks for all by its environment gets none', () => {
    const { HostConfig, Env = [] } = optionsOf({}, { env: ['NVIDIA_VISIBLE_DEVICES=all'] });
    expect(HostConfig?.DeviceRequests).toEqual([]);
    expect(Env.filter((each) => each.startsWith('NVIDIA_VISIBLE'))).toEqual(['NVIDIA_VISIBLE_DEVICES=void']);
  });

  test('of AMD go through the runtime of AMD, and have no MIG parts', () => {
    expect(gpuOptions([GPU], ['runc', 'amd'])).toMatchObject({
      Runtime: 'amd',
      DeviceRequests: [],
      env: expect.arrayContaining([`AMD_VISIBLE_DEVICES=${GPU}`, 'NVIDIA_VISIBLE_DEVICES=void']) as string[],
    });
    expect(() => gpuOptions([MIG], ['runc', 'amd'])).toThrow('MIG');
  });
});

test('whatever a payload says, nothing of the host is asked for', () => {
  const { HostConfig } = optionsOf({
    root: true,
    writable_root: true,
    ports: [{ container: 80, host: 20_000 }, { container: 81 }],
    mounts: [{ volume_id: randomUUID(), path: '/data' }],
    resources: { vcpu: 0.5, memory_mib: 32, shared_memory_mib: 4096, pids: 8 },
  });
  expect(HostConfig).toMatchObject({
    Privileged: false,
    CapDrop: ['ALL'],
    CapAdd: [],
    SecurityOpt: ['no-new-privileges:true'],
    ReadonlyRootfs: false,
    Binds: [],
    Devices: [],
    PidMode: '',
    UTSMode: '',
    UsernsMode: '',
    IpcMode: 'private',
    CgroupnsMode: 'private',
    NanoCpus: 5e8,
    PidsLimit: 8,
    PublishAllPorts: false,
    PortBindings: { '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '20000' }] },
  });
  expect(HostConfig?.MemorySwap).toBe(HostConfig?.Memory);
  expect(HostConfig?.ShmSize).toBe(HostConfig?.Memory);
  expect(HostConfig?.Mounts?.map(({ Type }) => Type)).toEqual(['volume']);
});
