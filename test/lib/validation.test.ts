import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App, Stack } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { describe, expect, test } from 'vitest';
import { PlatformFunction } from '../../lib/platform-function.ts';
import { Workflow } from '../../lib/workflow.ts';
import { synthesizeOnce } from './synthesized.ts';

const selftestOf = (app: App) => app.node.findChild('GpuaasSelftest') as Stack;

// The rules are a large WebAssembly module, compiled anew in every process.
describe('the synthesized app', { timeout: 120_000 }, () => {
  test('passes cdk-nag and CloudFormation’s own rules', () => {
    const { outdir } = synthesizeOnce();
    const report = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')) as {
      pluginReports: unknown[];
    };
    expect(report.pluginReports).toEqual([]);
  });

  test('would not synthesize with a finding nobody acknowledged', () => {
    expect(() => synthesizeOnce({ change: (app) => new Bucket(selftestOf(app), 'Open') })).toThrow(
      /AwsSolutions-S1\b/,
    );
  });

  test('would not synthesize with a function that answers the machine it is called by: neither could be made first', () => {
    const change = (app: App) => {
      const stack = selftestOf(app);
      const fn = stack.node
        .findAll()
        .find((each) => each.node.id === 'End' && each instanceof PlatformFunction) as PlatformFunction;
      const machine = stack.node.findAll().find((each) => each instanceof Workflow);
      machine?.grantTaskResponse(fn);
    };
    expect(() => synthesizeOnce({ change })).toThrow(/[Cc]ircular/);
  });
});
