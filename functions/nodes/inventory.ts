// What a host is made of, as its agent finds it. Agent, platform and placement import this one file; it is pure.

import * as v from 'valibot';

const text = (max: number) => v.pipe(v.string(), v.maxLength(max));
const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

/** The manifest's words. */
export const ACCELERATORS = ['cpu', 'nvidia', 'amd'] as const;
export type Accelerator = (typeof ACCELERATORS)[number];

export const Gpu = v.strictObject({
  /** `GPU-…`, or `MIG-…` for a part of one. */
  uuid: v.pipe(
    v.string(),
    v.regex(/^(?:GPU|MIG)-[\w/-]{8,128}$/),
    v.examples(['GPU-8f5a1c9e-2b7d-4f36-9a41-6c0d3e5b7a92']),
  ),
  vendor: v.picklist(['nvidia', 'amd']),
  model: text(100),
  memory_mib: whole(1, 16 * 1024 * 1024),
  /** Of a MIG part: its profile (`1g.10gb`) and the GPU it is cut from. */
  mig: v.optional(v.strictObject({ profile: text(32), parent_uuid: text(140) })),
});
export type Gpu = v.InferOutput<typeof Gpu>;

export const Inventory = v.strictObject({
  hostname: text(253),
  architecture: v.picklist(['amd64', 'arm64']),
  kernel: text(100),
  os: text(100),
  vcpu: whole(1, 4096),
  memory_mib: whole(1, 64 * 1024 * 1024),
  disk_gib: whole(0, 16 * 1024 * 1024),
  gpus: v.pipe(v.array(Gpu), v.maxLength(64)),
  /** Absent where there is none. */
  driver_version: v.optional(text(64)),
  engine: v.optional(
    v.strictObject({
      name: v.literal('docker'),
      version: text(64),
      api_version: text(16),
      /** Root in a container is nobody outside. */
      userns_remap: v.boolean(),
      /** `nvidia` is among the engine's runtimes. */
      nvidia_runtime: v.boolean(),
    }),
  ),
  toolkit_version: v.optional(text(64)),
  compose_version: v.optional(text(64)),
  agent_version: text(32),
});
export type Inventory = v.InferOutput<typeof Inventory>;

export const acceleratorOf = ({ gpus }: Pick<Inventory, 'gpus'>): Accelerator => gpus[0]?.vendor ?? 'cpu';
