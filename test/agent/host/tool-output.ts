// Written in the formats of the tools of GPU hosts, not recorded there: no GPU is to be had where the tests run. GPU paths
// are tested by these alone.

export const A100_CSV = `GPU-8f6d2c1e-4b7a-3c90-9d15-0a1b2c3d4e5f, NVIDIA A100-SXM4-40GB, 40960, 550.90.07, Disabled
GPU-1c2d3e4f-5a6b-7c8d-9e0f-a1b2c3d4e5f6, NVIDIA A100-SXM4-40GB, 40960, 550.90.07, Enabled
`;

export const A100_LIST = `GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-8f6d2c1e-4b7a-3c90-9d15-0a1b2c3d4e5f)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-1c2d3e4f-5a6b-7c8d-9e0f-a1b2c3d4e5f6)
  MIG 3g.20gb     Device  0: (UUID: MIG-7f0c1d2e-3b4a-5c6d-8e9f-0a1b2c3d4e5f)
  MIG 1g.5gb+me   Device  1: (UUID: MIG-2b3c4d5e-6f70-5181-9293-a4b5c6d7e8f9)
`;

/** Drivers before 470 named parts by their card and two numbers. */
export const OLD_MIG_LIST = `GPU 0: A100-SXM4-40GB (UUID: GPU-1c2d3e4f-5a6b-7c8d-9e0f-a1b2c3d4e5f6)
  MIG 1g.5gb Device 0: (UUID: MIG-GPU-1c2d3e4f-5a6b-7c8d-9e0f-a1b2c3d4e5f6/7/0)
`;

/** Cards without MIG say so; one that fell off the bus answers nothing useful. */
export const MIXED_CSV = `GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee, NVIDIA GeForce RTX 4090, 24564, 550.54.14, [N/A]
[Unknown Error], [Unknown Error], [Unknown Error], 550.54.14, [Unknown Error]
`;

export const ROCM_JSON = `WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status

{"card0": {"Unique ID": "0x18f68e602b8a790f", "VRAM Total Memory (B)": "68702699520", "VRAM Total Used Memory (B)": "10960896", "Card Series": "AMD Instinct MI250X", "Card Model": "0x740c", "Card Vendor": "Advanced Micro Devices, Inc. [AMD/ATI]", "Card SKU": "D65210"}, "card1": {"Unique ID": "0x4C18A1D2EE1B5A", "VRAM Total Memory (B)": "68702699520", "Card series": "AMD Instinct MI250X"}, "card2": {"Unique ID": "N/A", "VRAM Total Memory (B)": "536870912", "Card Series": "AMD Radeon Graphics"}, "system": {"Driver version": "6.7.0"}}
`;

export const TOOLKIT = `NVIDIA Container Toolkit CLI version 1.17.8
commit: f202b80a9b9d0db00d9b1d73c0128c8962c55f4d
`;

export const ENGINE_VERSION = {
  Platform: { Name: 'Docker Engine - Community' },
  Version: '27.3.1',
  ApiVersion: '1.47',
  MinAPIVersion: '1.24',
};

export const ENGINE_INFO = {
  ID: 'b2ad0b2c',
  SecurityOptions: ['name=apparmor', 'name=seccomp,profile=builtin', 'name=userns', 'name=cgroupns'],
  Runtimes: { 'io.containerd.runc.v2': { path: 'runc' }, nvidia: { path: 'nvidia-container-runtime' } },
  DockerRootDir: '/var/lib/docker/165536.165536',
  CgroupVersion: '2',
  MemoryLimit: true,
  PidsLimit: true,
  CpuCfsQuota: true,
};
