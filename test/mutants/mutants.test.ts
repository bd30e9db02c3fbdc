import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../../lib/bundle.ts';
import { MUTANTS } from './index.ts';

const AT_LEAST = 60;

const all = Object.entries(MUTANTS).flatMap(([domain, mutants]) =>
  mutants.map((mutant) => ({ ...mutant, domain })),
);

describe('the list of mutants', () => {
  test(`has at least ${AT_LEAST}, each told apart by what it breaks`, () => {
    expect(all.length).toBeGreaterThanOrEqual(AT_LEAST);
    expect(new Set(all.map(({ what }) => what)).size).toBe(all.length);
  });

  test.each(Object.keys(MUTANTS))('is of a domain that has tests: %s', (domain) => {
    expect(existsSync(join(ROOT, 'test', domain))).toBe(true);
  });

  test('names each list like the folder whose code it changes', () => {
    const folderOf = (file: string) => /^functions\/(\w+)\//.exec(file)?.[1];
    const elsewhere = all.filter(({ file, domain }) => (folderOf(file) ?? domain) !== domain);
    expect(elsewhere.map(({ what }) => what)).toEqual([]);
  });

  test.each(all)('$domain: $what', ({ file, from, to, noticedBy }) => {
    const source = readFileSync(join(ROOT, file), 'utf8');
    expect(source.split(from), `what is to change must stand exactly once in ${file}`).toHaveLength(2);
    expect(to).not.toBe(from);
    expect(noticedBy).not.toEqual([]);
    for (const path of noticedBy) expect(existsSync(join(ROOT, path)), path).toBe(true);
  });
});
