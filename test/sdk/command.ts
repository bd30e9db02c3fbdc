import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { run } from '../../sdk/cli/run.ts';

const COMMAND = fileURLToPath(new URL('../../sdk/gpuaas.ts', import.meta.url));

export interface Ending {
  code: number;
  out: string;
  err: string;
}

/** The command in a process of its own, as a shell runs it. */
export async function spawnGpuaas(
  args: string[],
  options: { input?: string; env?: Record<string, string> } = {},
): Promise<Ending> {
  const env = { PATH: process.env['PATH'] ?? '', ...options.env };
  const node = ['--disable-warning=ExperimentalWarning', COMMAND, ...args];
  const child = spawn(process.execPath, node, { env });
  child.stdin.end(options.input ?? '');
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, out, err };
}

/** The same without the process: it takes half a second to start on a busy machine. */
export async function gpuaas(args: string[], { input = '' }: { input?: string } = {}): Promise<Ending> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await run(args, {
    print: (line) => out.push(`${line}\n`),
    tell: (line) => err.push(`${line}\n`),
    read: async () => input,
  });
  return { code, out: out.join(''), err: err.join('') };
}
