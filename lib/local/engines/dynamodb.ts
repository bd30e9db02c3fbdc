import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineAddress } from '../wire/forward.ts';
import { say } from '../wire/say.ts';
import { DYNAMODB_LOCAL_FILE, startDynamoDbLocal } from './dynamodb-local.ts';
import { DYNOXIDE_FILE, findDynoxide, startDynoxide } from './dynoxide.ts';
import { findNetworkMaker, PrivateNetwork } from './private-network.ts';

/** `aws` is AWS's own DynamoDB Local, which needs Java; Dynoxide is a small program that npm brings. */
export const DYNAMODB_ENGINES = ['dynoxide', 'aws'] as const;
export type DynamoDbEngine = (typeof DYNAMODB_ENGINES)[number];

/** How the engines differ for whoever talks to them. */
export const DYNAMODB_TRAITS: Record<DynamoDbEngine, DynamoDbTraits> = {
  dynoxide: {
    name: 'Dynoxide',
    region: 'dynoxide',
    answersBeforeCommit: false,
    reach: 'other programs on this machine',
  },
  aws: {
    name: 'DynamoDB Local',
    region: 'ddblocal',
    answersBeforeCommit: true,
    reach: 'other programs on this machine and on every network it is in',
  },
};

interface DynamoDbTraits {
  name: string;
  /** The one it believes to be in, and puts into ARNs. */
  region: string;
  /** A transaction's answer comes before it is on disk, so it has to be asked for once more. */
  answersBeforeCommit: boolean;
  /** Who can connect to it, unless it has a network of its own. */
  reach: string;
}

export interface DynamoDbConnection extends DynamoDbTraits, EngineAddress {}

interface DynamoDbOptions {
  engine: DynamoDbEngine;
  dataDir?: string;
}

export interface DynamoDb extends DynamoDbConnection {
  pid(): number | undefined;
  stop(): Promise<void>;
}

/**
 * With a data folder the tables live in `<dataDir>/dynamodb` and outlive the process; without one they live in
 * memory. The child keeps its port when it has to be started again. It checks no signature: in a network of its own it
 * answers us alone, otherwise whoever can connect to it.
 */
export async function startDynamoDb(
  options: DynamoDbOptions & { network?: PrivateNetwork },
): Promise<DynamoDb> {
  const start = options.engine === 'aws' ? startDynamoDbLocal : startDynoxide;
  return { ...DYNAMODB_TRAITS[options.engine], ...(await start(options)) };
}

/** In a network of its own; where the system does not allow that, it says who can reach it. */
export async function startClosedDynamoDb(options: DynamoDbOptions): Promise<DynamoDb> {
  const maker = await findNetworkMaker();
  if (!('unavailable' in maker)) return startDynamoDb({ ...options, network: new PrivateNetwork(maker) });
  const { name, reach } = DYNAMODB_TRAITS[options.engine];
  say('dynamodb', `${name} can be reached without credentials by ${reach}, because ${maker.unavailable}.`);
  return startDynamoDb(options);
}

/**
 * The engine that is wanted; otherwise the one whose tables the data folder keeps; otherwise Dynoxide, where there is
 * one for this machine. Neither reads the other's files, so a folder stays with its engine.
 */
export function chooseDynamoDb(wanted: DynamoDbEngine | undefined, dataDir?: string): DynamoDbEngine {
  const kept = dataDir === undefined ? undefined : keptEngine(join(dataDir, 'dynamodb'));
  if (wanted !== undefined && kept !== undefined && wanted !== kept) {
    throw new Error(
      `${dataDir} keeps its tables in ${DYNAMODB_TRAITS[kept].name}. Start with --dynamodb ${kept}, or begin anew with --fresh.`,
    );
  }
  const engine = wanted ?? kept ?? (findDynoxide() === undefined ? 'aws' : 'dynoxide');
  if (engine === 'dynoxide' && findDynoxide() === undefined) {
    throw new Error(
      `There is no Dynoxide for this machine (${process.platform} ${process.arch}), or npm left it out. Run npm install again, or start with --dynamodb aws.`,
    );
  }
  return engine;
}

function keptEngine(folder: string): DynamoDbEngine | undefined {
  if (existsSync(join(folder, DYNOXIDE_FILE))) return 'dynoxide';
  return existsSync(join(folder, DYNAMODB_LOCAL_FILE)) ? 'aws' : undefined;
}
