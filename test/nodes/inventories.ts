import type { Gpu, Inventory } from '../../functions/nodes/inventory.ts';

/** A host without GPUs, as its agent would tell of it. */
export const sampleInventory = (more: Partial<Inventory> = {}): Inventory => ({
  hostname: 'host-1',
  architecture: 'amd64',
  kernel: '6.8.0-45-generic',
  os: 'Ubuntu 24.04.1 LTS',
  vcpu: 16,
  memory_mib: 64_000,
  disk_gib: 500,
  gpus: [],
  engine: {
    name: 'docker',
    version: '28.1.1',
    api_version: '1.49',
    userns_remap: false,
    nvidia_runtime: false,
  },
  compose_version: '2.35.1',
  agent_version: '0.1.0',
  ...more,
});

const nvidia = (uuid: string): Gpu => ({
  uuid: `GPU-${uuid}`,
  vendor: 'nvidia',
  model: 'NVIDIA H100 80GB HBM3',
  memory_mib: 81_559,
});

/** The same with GPUs and what it takes to give them to containers. */
export const gpuInventory = (more: Partial<Inventory> = {}): Inventory =>
  sampleInventory({
    gpus: [nvidia('00000001'), nvidia('00000002')],
    driver_version: '570.86.15',
    toolkit_version: '1.17.8',
    engine: {
      name: 'docker',
      version: '28.1.1',
      api_version: '1.49',
      userns_remap: false,
      nvidia_runtime: true,
    },
    ...more,
  });
