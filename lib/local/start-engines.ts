import { join } from 'node:path';
import type { Journal } from './journal/journal.ts';
import type { RegistryTokens } from './registry/registry-tokens.ts';
import { say } from './wire/say.ts';
import type { SystemParts } from './system/system.ts';
import { startDocker, type Docker } from './engines/docker.ts';
import { startClosedDynamoDb, type DynamoDb, type DynamoDbEngine } from './engines/dynamodb.ts';
import { startQueuesAndObjects, type QueuesAndObjects } from './engines/queues-and-objects.ts';
import { startRegistry, type Registry } from './registry/registry.ts';

/** The real programs behind the services. */
export interface Engines {
  dynamodb: DynamoDb;
  queues: QueuesAndObjects;
  registry: Registry | undefined;
  docker: Docker | undefined;
  stop(): Promise<void>;
}

export interface EnginesOptions {
  dataDir: string;
  journal: Journal;
  tokens: RegistryTokens;
  dynamodb: DynamoDbEngine;
  parts: SystemParts;
}

/** Starts them all at once; if one fails, none is left running. */
export async function startEngines(options: EnginesOptions): Promise<Engines> {
  const { dataDir } = options;
  const starting = [
    startClosedDynamoDb({ engine: options.dynamodb, dataDir }),
    startQueuesAndObjects({ dataDir: join(dataDir, 'queues') }),
    startContainers(options),
  ] as const;
  const stop = async (): Promise<void> => {
    const settled = await Promise.allSettled(starting);
    await Promise.all(settled.map(async (engine) => engine.status === 'fulfilled' && engine.value.stop()));
  };
  try {
    const [dynamodb, queues, { registry, docker }] = await Promise.all(starting);
    return { dynamodb, queues, registry, docker, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startContainers({ dataDir, journal, tokens, parts }: EnginesOptions) {
  const registry =
    parts.registry === undefined ? undefined : await startRegistry({ dataDir, journal, tokens });
  const docker = await startDocker({ dataDir, insecureRegistry: registry?.host });
  if ('unavailable' in docker)
    say('docker', `No container engine: ${docker.unavailable}. Everything but launching containers works.`);
  const running = 'unavailable' in docker ? undefined : docker;
  const stop = async (): Promise<void> => {
    await Promise.all([running?.stop(), registry?.stop()]);
  };
  return { registry, docker: running, stop };
}
