// What the container engine says of itself. Pure.

import * as v from 'valibot';
import type { Inventory } from '../../functions/nodes/inventory.ts';

const Version = v.object({ Version: v.string(), ApiVersion: v.string() });

const Info = v.object({
  SecurityOptions: v.fallback(v.array(v.string()), []),
  Runtimes: v.fallback(v.record(v.string(), v.unknown()), {}),
  DockerRootDir: v.fallback(v.string(), '/'),
  CgroupVersion: v.fallback(v.string(), '1'),
  MemoryLimit: v.fallback(v.boolean(), false),
  PidsLimit: v.fallback(v.boolean(), false),
  CpuCfsQuota: v.fallback(v.boolean(), false),
});

export interface Engine {
  engine: NonNullable<Inventory['engine']>;
  rootDir: string;
  cgroupVersion: string;
  /** Limits that the kernel does not let the engine set. */
  missingLimits: string[];
}

/** GET /version and GET /info. */
export function parseEngine(version: unknown, info: unknown): Engine | undefined {
  const told = v.safeParse(Version, version);
  const more = v.safeParse(Info, info);
  if (!told.success || !more.success) return undefined;
  const { SecurityOptions, Runtimes, DockerRootDir, CgroupVersion, ...limits } = more.output;
  return {
    engine: {
      name: 'docker',
      version: told.output.Version,
      api_version: told.output.ApiVersion,
      userns_remap: SecurityOptions.some(
        (option) => option === 'name=userns' || option.startsWith('name=userns,'),
      ),
      nvidia_runtime: 'nvidia' in Runtimes,
    },
    rootDir: DockerRootDir,
    cgroupVersion: CgroupVersion,
    missingLimits: Object.entries({
      memory: limits.MemoryLimit,
      pids: limits.PidsLimit,
      cpu: limits.CpuCfsQuota,
    }).flatMap(([name, isThere]) => (isThere ? [] : [name])),
  };
}

/** `docker compose version --short`, `docker-compose version --short` */
export const parseCompose = (text: string): string | undefined => /(\d+\.\d+\.\d+[-+.\w]*)/.exec(text)?.[1];

/** PRETTY_NAME of /etc/os-release */
export const parseOs = (text: string): string | undefined => /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(text)?.[1];
