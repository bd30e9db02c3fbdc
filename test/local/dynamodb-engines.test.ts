import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chooseDynamoDb } from '../../lib/local/engines/dynamodb.ts';
import { javaMajor } from '../../lib/local/engines/dynamodb-local.ts';
import { findDynoxide } from '../../lib/local/engines/dynoxide.ts';

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
