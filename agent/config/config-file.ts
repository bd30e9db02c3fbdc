import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError, parseConfig, STATE_DIR_VARIABLE } from './config.ts';
import { writeWhole } from './write-whole.ts';

const STATE_DIR = '/var/lib/gpuaas-agent';

export const configFile = (stateDir: string): string => join(stateDir, 'config.json');

export const stateDirOf = (option: string | undefined): string =>
  option ?? process.env[STATE_DIR_VARIABLE] ?? STATE_DIR;

/** Only the agent looks into it: the node's key and what it knows of tenants are there. */
export function ensureStateDir(stateDir: string): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  chmodSync(stateDir, 0o700);
}

export const hasJoined = (stateDir: string): boolean => existsSync(configFile(stateDir));

export function readConfig(stateDir: string): Config {
  if (!hasJoined(stateDir))
    throw new ConfigError([
      `${configFile(stateDir)} does not exist. Join a platform first: gpuaas-agent join --url … --node … --token …`,
    ]);
  let file: unknown;
  try {
    file = JSON.parse(readFileSync(configFile(stateDir), 'utf8'));
  } catch (error) {
    throw new ConfigError([`${configFile(stateDir)} cannot be read: ${(error as Error).message}.`]);
  }
  if (typeof file !== 'object' || file === null)
    throw new ConfigError([`${configFile(stateDir)} does not hold an object.`]);
  return parseConfig(file, process.env);
}

export function writeConfig(stateDir: string, config: Config): void {
  writeWhole(configFile(stateDir), `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
