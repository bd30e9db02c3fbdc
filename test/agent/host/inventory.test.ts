import Dockerode from 'dockerode';
import { describe, expect, test } from 'vitest';
import * as v from 'valibot';
import { Inventory } from '../../../functions/nodes/inventory.ts';
import { readInventory } from '../../../agent/host/inventory.ts';
import { parseCompose, parseEngine, parseOs } from '../../../agent/host/parse-engine.ts';
import { nvidiaGpus, parseToolkit } from '../../../agent/host/parse-nvidia.ts';
import { amdGpus } from '../../../agent/host/parse-rocm.ts';
import {
  A100_CSV,
  A100_LIST,
  ENGINE_INFO,
  ENGINE_VERSION,
  MIXED_CSV,
  OLD_MIG_LIST,
  ROCM_JSON,
  TOOLKIT,
} from './tool-output.ts';

const nobody = new Dockerode({ socketPath: '/nowhere/docker.sock' });

describe('GPUs of NVIDIA', () => {
  test('are whole cards, and of a card that is cut, its parts', () => {
    const { gpus, driverVersion } = nvidiaGpus(A100_CSV, A100_LIST);
    expect(driverVersion).toBe('550.90.07');
    const card = { vendor: 'nvidia', model: 'NVIDIA A100-SXM4-40GB' };
    const parent_uuid = 'GPU-1c2d3e4f-5a6b-7c8d-9e0f-a1b2c3d4e5f6';
    expect(gpus).toEqual([
      { uuid: 'GPU-8f6d2c1e-4b7a-3c90-9d15-0a1b2c3d4e5f', ...card, memory_mib: 40960 },
      {
        uuid: 'MIG-7f0c1d2e-3b4a-5c6d-8e9f-0a1b2c3d4e5f',
        ...card,
        memory_mib: 20480,
        mig: { profile: '3g.20gb', parent_uuid },
      },
      {
        uuid: 'MIG-2b3c4d5e-6f70-5181-9293-a4b5c6d7e8f9',
        ...card,
        memory_mib: 5120,
        mig: { profile: '1g.5gb+me', parent_uuid },
      },
    ]);
  });

  test('of older drivers name their parts by the card', () => {
    const csv = A100_CSV.split('\n')[1] ?? '';
    expect(nvidiaGpus(csv, OLD_MIG_LIST).gpus.map(({ uuid }) => uuid)).toEqual([
      'MIG-GPU-1c2d3e4f-5a6b-7c8d-9e0f-a1b2c3d4e5f6/7/0',
    ]);
  });

  test('that do not answer are not there', () => {
    expect(nvidiaGpus(MIXED_CSV, '').gpus).toEqual([
      {
        uuid: 'GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
        vendor: 'nvidia',
        model: 'NVIDIA GeForce RTX 4090',
        memory_mib: 24564,
      },
    ]);
    expect(nvidiaGpus('No devices were found\n', '')).toEqual({ gpus: [], driverVersion: undefined });
  });
});

describe('GPUs of AMD', () => {
  test('are named by the id burnt into them', () => {
    const { gpus, driverVersion } = amdGpus(ROCM_JSON);
    expect(driverVersion).toBe('6.7.0');
    expect(gpus).toEqual([
      { uuid: 'GPU-18f68e602b8a790f', vendor: 'amd', model: 'AMD Instinct MI250X', memory_mib: 65520 },
      { uuid: 'GPU-004c18a1d2ee1b5a', vendor: 'amd', model: 'AMD Instinct MI250X', memory_mib: 65520 },
    ]);
  });

  test.each(['', 'ERROR: No AMD GPUs specified', '[]', '{"card0": 7}'])('are none in %j', (text) => {
    expect(amdGpus(text).gpus).toEqual([]);
  });
});

describe('the engine', () => {
  test('says its version, whether it remaps users, and whether it knows GPUs', () => {
    expect(parseEngine(ENGINE_VERSION, ENGINE_INFO)).toEqual({
      engine: {
        name: 'docker',
        version: '27.3.1',
        api_version: '1.47',
        userns_remap: true,
        nvidia_runtime: true,
      },
      rootDir: '/var/lib/docker/165536.165536',
      cgroupVersion: '2',
      missingLimits: [],
    });
  });

  test('of which little is known has little', () => {
    expect(parseEngine(ENGINE_VERSION, { SecurityOptions: null })).toMatchObject({
      engine: { userns_remap: false, nvidia_runtime: false },
      missingLimits: ['memory', 'pids', 'cpu'],
    });
    expect(parseEngine({}, ENGINE_INFO)).toBeUndefined();
  });
});

test.each([
  [parseToolkit, TOOLKIT, '1.17.8'],
  [parseToolkit, 'NVIDIA Container Toolkit CLI version 1.17.0-rc.1\n', '1.17.0-rc.1'],
  [parseToolkit, 'command not found', undefined],
  [parseCompose, '2.29.7\n', '2.29.7'],
  [parseCompose, '1.29.2\n', '1.29.2'],
  [
    parseOs,
    'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
    'Debian GNU/Linux 12 (bookworm)',
  ],
  [parseOs, 'PRETTY_NAME=Alpine\n', 'Alpine'],
])('%o reads %j as %s', (parse, text, expected) => {
  expect(parse(text)).toBe(expected);
});

describe('the inventory', () => {
  test('of this machine is one the platform takes, without tools and engine too', async () => {
    const inventory = await readInventory(nobody, () => Promise.resolve(undefined));
    expect(v.parse(Inventory, inventory)).toEqual(inventory);
    expect(inventory).toMatchObject({ gpus: [] });
    expect(inventory.engine).toBeUndefined();
  });

  test('of a host with GPUs has what its tools say', async () => {
    const said: Record<string, string> = {
      'nvidia-smi -L': A100_LIST,
      'nvidia-ctk --version': TOOLKIT,
      'docker-compose version --short': '1.29.2',
    };
    const inventory = await readInventory(nobody, (command, words) =>
      Promise.resolve(words[0]?.startsWith('--query-gpu=') ? A100_CSV : said[[command, ...words].join(' ')]),
    );
    expect(v.parse(Inventory, inventory)).toMatchObject({
      driver_version: '550.90.07',
      toolkit_version: '1.17.8',
      compose_version: '1.29.2',
      gpus: [{ vendor: 'nvidia' }, { mig: { profile: '3g.20gb' } }, { mig: { profile: '1g.5gb+me' } }],
    });
  });
});
