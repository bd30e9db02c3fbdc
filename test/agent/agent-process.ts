import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { run } from '../../agent/cli/run.ts';

const AGENT = resolve(import.meta.dirname, '../../agent/gpuaas-agent.ts');

/** The agent as a process of its own, run from its sources or from a file. */
export function spawnAgent(
  words: string[],
  { file = AGENT, env = {} }: { file?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...env },
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => void (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (said.err += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  return { child, said, ended };
}

/** A command of the agent inside this process, which is there already. */
export async function runAgentCommand(words: string[]) {
  const said = { out: '', err: '' };
  const code = await run(words, {
    print: (line) => void (said.out += `${line}\n`),
    tell: (line) => void (said.err += `${line}\n`),
  });
  return { code, ...said };
}
