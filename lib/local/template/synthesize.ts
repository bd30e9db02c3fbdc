import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Synthesizes the CDK app in a process of its own: it is large, and a reload must see changed sources. */
export async function synthesize(
  outdir: string,
  context: Record<string, string> = {},
  stop?: AbortSignal,
): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [join(ROOT, 'bin', 'platform.ts')], {
      cwd: ROOT,
      // Whether the template is fit for the cloud is asked by the tests and by deploying; starting should be quick.
      env: {
        ...process.env,
        CDK_OUTDIR: outdir,
        CDK_VALIDATION: 'false',
        CDK_CONTEXT_JSON: JSON.stringify(context),
      },
      maxBuffer: 16 * 1024 * 1024,
      signal: stop,
    });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(`The CDK app could not be synthesized:\n${stderr?.trim() || message}`, { cause: error });
  }
}
