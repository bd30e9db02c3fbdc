// Where releases of the agent lie: releases/<version>/gpuaas-agent.mjs, and `current`, which names the one that runs.

import { chmodSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { syncFolder, writeWhole } from '../config/write-whole.ts';

const AGENT_FILE = 'gpuaas-agent.mjs';
const VERSION = /^\d+\.\d+\.\d+$/;

const releasesDir = (stateDir: string): string => join(stateDir, 'releases');

/** Through `current`: what runs next. */
export const currentFile = (stateDir: string): string => join(stateDir, 'current', AGENT_FILE);

export const releaseFile = (stateDir: string, version: string): string =>
  join(releasesDir(stateDir), version, AGENT_FILE);

/** Nothing, if the agent was not started from a release. */
export function currentVersion(stateDir: string): string | undefined {
  try {
    const version = basename(readlinkSync(join(stateDir, 'current')));
    return VERSION.test(version) ? version : undefined;
  } catch {
    return undefined;
  }
}

export function writeRelease(stateDir: string, version: string, bundle: Uint8Array): void {
  const folder = join(releasesDir(stateDir), version);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(releasesDir(stateDir), 0o700);
  writeWhole(join(folder, AGENT_FILE), bundle, { mode: 0o500 });
  syncFolder(releasesDir(stateDir));
}

/** From one moment to the next: whoever starts the agent finds the one release or the other. */
export function makeCurrent(stateDir: string, version: string): void {
  const draft = join(stateDir, 'current.draft');
  rmSync(draft, { force: true });
  symlinkSync(join('releases', version), draft);
  renameSync(draft, join(stateDir, 'current'));
  syncFolder(stateDir);
}

/** The one that runs and the one before it are enough. */
export function removeOtherReleases(stateDir: string, kept: readonly (string | undefined)[]): void {
  for (const version of readdirSync(releasesDir(stateDir)))
    if (!kept.includes(version))
      rmSync(join(releasesDir(stateDir), version), { recursive: true, force: true });
}
