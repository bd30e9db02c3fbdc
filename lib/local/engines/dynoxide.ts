import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { superviseChild } from './child-process.ts';
import { freeAddress, isExecutable, statusAt } from './machine.ts';
import type { PrivateNetwork } from './private-network.ts';

export const DYNOXIDE_FILE = 'dynoxide.db';

/** Dynoxide: DynamoDB over SQLite. It listens on 127.0.0.1 alone, and commits before it answers. */
export async function startDynoxide({ dataDir, network }: { dataDir?: string; network?: PrivateNetwork }) {
  const command = findDynoxide();
  if (command === undefined) throw new Error('There is no Dynoxide for this machine.');
  const address = network ?? (await freeAddress());
  const child = await superviseChild({
    name: 'dynamodb',
    command,
    args: ['--port', String(address.port), ...storageFlags(dataDir)],
    dataDir,
    network,
    ready: async () => (await statusAt(address)) === 200,
    readySecondsMax: 30,
    stopSecondsMax: 5,
    // Its file survives SIGKILL.
    orphanSignal: 'KILL',
  });
  if (dataDir !== undefined) indexStreams(fileIn(dataDir));
  return { url: address.url, agent: network?.agent, pid: () => child.pid(), stop: () => child.stop() };
}

/**
 * With each write Dynoxide 1.2.1 looks for the last record of the table's stream, and reads all of them to find it: after
 * twelve thousand writes it takes a tenth of what it took before. With this index it looks at one.
 */
function indexStreams(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA busy_timeout = 5000;
    CREATE INDEX IF NOT EXISTS stream_record_last
      ON _stream_records (table_name, CAST(sequence_number AS INTEGER));`);
  database.close();
}

/** The program for this machine, where npm has one and installed it. */
export function findDynoxide(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `@dynoxide/${process.platform}-${process.arch}/package.json`,
    );
    const program = join(dirname(manifest), 'dynoxide');
    return isExecutable(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

function storageFlags(dataDir: string | undefined): string[] {
  if (dataDir === undefined) return [];
  const file = fileIn(dataDir);
  mkdirSync(dirname(file), { recursive: true });
  return ['--db-path', file];
}

const fileIn = (dataDir: string): string => join(dataDir, 'dynamodb', DYNOXIDE_FILE);
