// A command inside a container: as its own user, with its own limits.

import type Docker from 'dockerode';
import { frames } from './frames.ts';

export interface Executed {
  /** Nothing where it did not end in time. */
  exitCode?: number;
  /** The last of what it wrote. */
  output: string;
}

export async function execute(
  container: Docker.Container,
  command: string[],
  {
    timeoutMs,
    outputCharactersMax,
    signal,
  }: { timeoutMs: number; outputCharactersMax: number; signal: AbortSignal },
): Promise<Executed> {
  const exec = await container.exec({ Cmd: command, AttachStdout: true, AttachStderr: true, Tty: false });
  const stream = await exec.start({ Detach: false, Tty: false });
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const leave = (): void => void stream.destroy();
  ended.addEventListener('abort', leave, { once: true });
  let output = '';
  try {
    for await (const { text } of frames(stream)) output = (output + text).slice(-outputCharactersMax);
  } catch (error) {
    if (!ended.aborted) throw error;
  } finally {
    ended.removeEventListener('abort', leave);
  }
  signal.throwIfAborted();
  if (ended.aborted) return { output };
  const { ExitCode } = await exec.inspect();
  return { output, ...(ExitCode !== null && { exitCode: ExitCode }) };
}
