import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DynamoDBClient, ListTablesCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { inject } from 'vitest';
import { readCredentials } from './signed-fetch.ts';

const ready = inject('platform');

export const dataDir = dirname(ready.aws_credentials_file);

/** By what must be found nowhere: what it is. */
const planted = new Map<string, string>();

/** Keeps a secret in mind, in parts of which none may show: a key is as lost by one line of it as by all. */
export function plant(what: string, secret: string): void {
  for (const part of partsOf(secret)) planted.set(part, what);
}

function partsOf(secret: string): string[] {
  if (secret.startsWith('-----BEGIN'))
    return secret.split('\n').filter((line) => /^[\w+/=]{30,}$/.test(line));
  const signature = /^[\w-]+\.[\w-]+\.([\w-]{20,})$/.exec(secret)?.[1];
  return [signature ?? secret];
}

/** Every secret of this file that can be read in a log, an event on the bus, or an item of the table. */
export async function findShownSecrets(): Promise<string[]> {
  const texts = await readEverything();
  return texts.flatMap(({ where, text }) =>
    [...planted].filter(([secret]) => text.includes(secret)).map(([, what]) => `${what} in ${where}`),
  );
}

/** Where a text can be read; what is not secret is found in many places. */
export async function findText(wanted: string): Promise<string[]> {
  return (await readEverything()).filter(({ text }) => text.includes(wanted)).map(({ where }) => where);
}

async function readEverything(): Promise<Found[]> {
  return [...readLogs(), ...readBus(), ...(await readItems())];
}

interface Found {
  where: string;
  text: string;
}

function readLogs(): Found[] {
  const logs = join(dataDir, 'logs');
  return readdirSync(logs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => ({
      where: `the log ${name}`,
      text: readFileSync(join(parentPath, name), 'utf8'),
    }));
}

/** What was put on the event bus, in order. */
export function readBus(): Found[] {
  const journal = new DatabaseSync(join(dataDir, 'journal.sqlite'), { readOnly: true });
  try {
    const rows = journal.prepare('SELECT content FROM event ORDER BY sequence').all();
    return rows.map(({ content }) => ({ where: 'an event on the bus', text: String(content) }));
  } finally {
    journal.close();
  }
}

/** Audit, outbox, feed and all else that is kept. */
async function readItems(): Promise<Found[]> {
  const dynamodb = new DynamoDBClient({
    endpoint: ready.aws_endpoint,
    region: ready.region,
    credentials: readCredentials(ready),
  });
  const found: Found[] = [];
  const { TableNames = [] } = await dynamodb.send(new ListTablesCommand({}));
  for (const table of TableNames) {
    let from: Record<string, never> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await dynamodb.send(
        new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: from }),
      );
      found.push(
        ...Items.map((item) => ({
          where: `the item ${item['pk']?.S} ${item['sk']?.S}`,
          text: JSON.stringify(item),
        })),
      );
      from = LastEvaluatedKey as Record<string, never> | undefined;
    } while (from);
  }
  return found;
}
