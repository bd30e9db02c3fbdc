import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chooseDynamoDb } from '../../../lib/local/engines/dynamodb.ts';
import { javaMajor } from '../../../lib/local/engines/dynamodb-local.ts';
import { DYNOXIDE_FILE, findDynoxide, startDynoxide } from '../../../lib/local/engines/dynoxide.ts';

describe('which engine serves DynamoDB', () => {
  let dataDir: string;
  const keep = (file: string): void => writeFileSync(join(dataDir, 'dynamodb', file), '');
  const byDefault = findDynoxide() === undefined ? 'aws' : 'dynoxide';

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'dynamodb-engines-'));
    mkdirSync(join(dataDir, 'dynamodb'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  test('is the one this machine has a program for, when nothing is said', () => {
    expect(chooseDynamoDb(undefined)).toBe(byDefault);
    expect(chooseDynamoDb(undefined, dataDir)).toBe(byDefault);
  });

  test('is the one that is asked for', () => {
    expect(chooseDynamoDb('aws', dataDir)).toBe('aws');
    expect(chooseDynamoDb(byDefault, dataDir)).toBe(byDefault);
  });

  test('is the one whose tables the folder keeps, and no other', () => {
    keep('shared-local-instance.db');
    expect(chooseDynamoDb(undefined, dataDir)).toBe('aws');
    expect(chooseDynamoDb('aws', dataDir)).toBe('aws');
    expect(() => chooseDynamoDb('dynoxide', dataDir)).toThrow(
      /keeps its tables in DynamoDB Local. Start with --dynamodb aws, or begin anew with --fresh/,
    );
  });
});

test.runIf(findDynoxide() !== undefined)(
  'Dynoxide finds the last record of a stream without reading the others, so that writes do not grow slower',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'dynoxide-'));
    const engine = await startDynoxide({ dataDir });
    const database = new DatabaseSync(join(dataDir, 'dynamodb', DYNOXIDE_FILE), { readOnly: true });
    const plan = database
      .prepare(
        `EXPLAIN QUERY PLAN SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1
         FROM _stream_records WHERE table_name = 'control'`,
      )
      .all();
    expect(plan).toMatchObject([
      { detail: expect.stringMatching(/^SEARCH .*INDEX stream_record_last/) as string },
    ]);
    database.close();
    await engine.stop();
    rmSync(dataDir, { recursive: true, force: true });
  },
);

describe('the version of Java', () => {
  test.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['openjdk version "21" 2023-09-19', 21],
    ['java version "1.8.0_402"', 8],
    ['command not understood', 0],
  ])('%s is %i', (output, major) => {
    expect(javaMajor(output)).toBe(major);
  });
});
