import { existsSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { arch, availableParallelism, hostname, release, totalmem } from 'node:os';
import type Dockerode from 'dockerode';
import type { Inventory } from '../../functions/nodes/inventory.ts';
import { agentVersion } from '../config/version.ts';
import { type Engine, parseCompose, parseEngine, parseOs } from './parse-engine.ts';
import { NVIDIA_QUERY, nvidiaGpus, parseToolkit } from './parse-nvidia.ts';
import { amdGpus, ROCM_WORDS } from './parse-rocm.ts';
import { type RunTool, runTool } from './run-tool.ts';

const MIB = 1024 * 1024;
const GPUS_MAX = 64;

/** What this machine is made of. What cannot be found out is left out: a host without GPUs or engine is a host, too. */
export async function readInventory(docker: Dockerode, tool: RunTool = runTool): Promise<Inventory> {
  const [engine, nvidia, amd, toolkit, compose] = await Promise.all([
    readEngine(docker),
    readNvidia(tool),
    readAmd(tool),
    tool('nvidia-ctk', ['--version']),
    readCompose(tool),
  ]);
  const gpus = [...nvidia.gpus, ...amd.gpus].slice(0, GPUS_MAX);
  const driver = nvidia.driverVersion ?? amd.driverVersion;
  const toolkitVersion = toolkit === undefined ? undefined : parseToolkit(toolkit);
  return {
    hostname: hostname().slice(0, 253),
    architecture: arch() === 'arm64' ? 'arm64' : 'amd64',
    kernel: release().slice(0, 100),
    os: readOs().slice(0, 100),
    vcpu: availableParallelism(),
    memory_mib: Math.floor(totalmem() / MIB),
    disk_gib: await diskGib(engine?.rootDir),
    gpus,
    ...(driver !== undefined && { driver_version: driver.slice(0, 64) }),
    ...(engine && { engine: engine.engine }),
    ...(toolkitVersion !== undefined && { toolkit_version: toolkitVersion.slice(0, 64) }),
    ...(compose !== undefined && { compose_version: compose.slice(0, 64) }),
    agent_version: agentVersion,
  };
}

export async function readEngine(docker: Dockerode): Promise<Engine | undefined> {
  try {
    return parseEngine(await docker.version(), await docker.info());
  } catch {
    return undefined;
  }
}

async function readNvidia(tool: RunTool): Promise<ReturnType<typeof nvidiaGpus>> {
  const csv = await tool('nvidia-smi', [
    `--query-gpu=${NVIDIA_QUERY.join(',')}`,
    '--format=csv,noheader,nounits',
  ]);
  if (csv === undefined) return { gpus: [], driverVersion: undefined };
  return nvidiaGpus(csv, (await tool('nvidia-smi', ['-L'])) ?? '');
}

async function readAmd(tool: RunTool): Promise<ReturnType<typeof amdGpus>> {
  const json = await tool('rocm-smi', ROCM_WORDS);
  return json === undefined ? { gpus: [], driverVersion: undefined } : amdGpus(json);
}

/** Version 2 is a plugin of the engine's client; version 1 a program of its own. */
async function readCompose(tool: RunTool): Promise<string | undefined> {
  const told =
    (await tool('docker', ['compose', 'version', '--short'])) ??
    (await tool('docker-compose', ['version', '--short']));
  return told === undefined ? undefined : parseCompose(told);
}

/** Of the disk on which containers and volumes are kept. */
async function diskGib(rootDir: string | undefined): Promise<number> {
  const { blocks, bsize } = await statfs(rootDir !== undefined && existsSync(rootDir) ? rootDir : '/');
  return Math.floor((blocks * bsize) / MIB / 1024);
}

function readOs(): string {
  try {
    return parseOs(readFileSync('/etc/os-release', 'utf8')) ?? 'Linux';
  } catch {
    return 'Linux';
  }
}
