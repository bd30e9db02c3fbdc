import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { ROOT } from '../../lib/bundle.ts';
import { synthesizedApp } from './synthesized.ts';

// Only the partition `aws` is supported, as docs/guides/deploy.md says.

const { outdir } = synthesizedApp();
const templates = globSync('**/*.template.json', { cwd: outdir });

test('is the one the app is synthesized for', () => {
  expect(cdk.context['@aws-cdk/core:target-partitions']).toEqual(['aws']);
});

test('is written out in no template; the state machines name theirs in files of their own', () => {
  expect(templates.length).toBeGreaterThan(1);
  const others = templates.flatMap((file) =>
    [...readFileSync(join(outdir, file), 'utf8').matchAll(/arn:aws[^"\\]*/g)].map(
      ([arn]) => `${file}: ${arn}`,
    ),
  );
  expect(others).toEqual([]);
});

test('is written out in no function, and in no construct', () => {
  const files = globSync(['functions/**/*.ts', 'lib/*.ts', 'bin/*.ts'], { cwd: ROOT });
  expect(files.filter((file) => /arn:aws/.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
});
