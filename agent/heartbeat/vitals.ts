import { statfs } from 'node:fs/promises';
import { freemem, loadavg } from 'node:os';
import type { Vitals } from './heartbeat.ts';

const MIB = 1024 * 1024;
const MEMORY_STEP_MIB = 256;

/** Coarse, so that a host on which nothing happens has nothing to tell. */
export async function readVitals(
  diskPath: string,
): Promise<Pick<Vitals, 'disk_free_gib' | 'memory_free_mib' | 'load'>> {
  const { bavail, bsize } = await statfs(diskPath);
  return {
    disk_free_gib: Math.floor((bavail * bsize) / MIB / 1024),
    memory_free_mib: Math.floor(freemem() / MIB / MEMORY_STEP_MIB) * MEMORY_STEP_MIB,
    load: Math.round(loadavg()[0] ?? 0),
  };
}
