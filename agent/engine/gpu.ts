// GPUs by uuid and nothing else: numbers change with a restart, and "all" would be those of other tenants too.

import type { DeviceRequest } from 'dockerode';
import { TaskFailed } from '../tasks/performer.ts';

export interface GpuOptions {
  DeviceRequests: DeviceRequest[];
  Runtime?: string;
  env: string[];
}

/** An image may ask for every GPU by its own environment, which a runtime that is the engine's default would obey. */
const NONE = ['NVIDIA_VISIBLE_DEVICES=void', 'AMD_VISIBLE_DEVICES=void'];

export function gpuOptions(uuids: string[], runtimes: string[]): GpuOptions {
  if (uuids.length === 0) return { DeviceRequests: [], env: NONE };
  const ids = uuids.join(',');
  if (runtimes.includes('nvidia') || !runtimes.includes('amd'))
    return {
      DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: uuids, Capabilities: [['gpu']] }],
      env: [
        `NVIDIA_VISIBLE_DEVICES=${ids}`,
        'NVIDIA_DRIVER_CAPABILITIES=compute,utility',
        'AMD_VISIBLE_DEVICES=void',
      ],
    };
  if (uuids.some((uuid) => uuid.startsWith('MIG-')))
    throw new TaskFailed('gpu_unavailable', 'Only GPUs of NVIDIA have MIG parts, and this host has none.');
  // AMD's container runtime knows no device requests and reads the ids from the environment.
  return {
    DeviceRequests: [],
    Runtime: 'amd',
    env: [`AMD_VISIBLE_DEVICES=${ids}`, 'NVIDIA_VISIBLE_DEVICES=void'],
  };
}
