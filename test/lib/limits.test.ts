import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { beyondLimits } from '../../lib/local/limits/check-limits.ts';
import { readAssembly } from '../../lib/local/template/assembly.ts';
import { synthesizedApp, synthesizeOnce } from './synthesized.ts';

/** The settings that docs/guides/deploy.md gives for production. */
function production(): { lambda_concurrency_quota: number } {
  const guide = readFileSync(join('docs', 'guides', 'deploy.md'), 'utf8');
  const block = /```json\n(\{\n {2}"context":.*?)```/s.exec(guide)?.[1] ?? '';
  const written = block.replace('<account>', '123456789012').replace('<id>', '0a1b-2c');
  return (JSON.parse(written) as { context: { lambda_concurrency_quota: number } }).context;
}

// Synthesis is slow where others work too.
const timeout = 120_000;

describe('AWS would deploy the app', { timeout }, () => {
  test('as it is', () => {
    expect(beyondLimits(readAssembly(synthesizedApp().outdir))).toEqual([]);
  });

  test('as it is in production', () => {
    const context = production();
    const { outdir } = synthesizeOnce({ validate: false, context: { ...context } });
    const stacks = readAssembly(outdir);
    expect(stacks.map(({ name }) => name)).toContain('GpuaasFront');
    expect(beyondLimits(stacks, { concurrencyQuota: context.lambda_concurrency_quota })).toEqual([]);
  });
});

test('synthesis ends with what AWS would refuse, before anything is deployed', { timeout }, async () => {
  const outdir = mkdtempSync(join(tmpdir(), 'gpuaas-synth-'));
  onTestFinished(() => rmSync(outdir, { recursive: true }));
  const context = { platform_admins: 'x'.repeat(5_000) };
  const synthesis = promisify(execFile)(process.execPath, [join('bin', 'platform.ts')], {
    env: {
      ...process.env,
      CDK_OUTDIR: outdir,
      CDK_VALIDATION: 'false',
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
  });
  await expect(synthesis).rejects.toMatchObject({
    stderr: expect.stringMatching(
      /AWS would not deploy these stacks:\n- \S+: its environment has [\d,]+ bytes/,
    ),
  });
});
