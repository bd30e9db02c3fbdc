import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const SECONDS_MAX = 20;

/** What a tool of this machine prints; nothing if it is not there or fails. */
export type RunTool = (command: string, words: readonly string[]) => Promise<string | undefined>;

export const runTool: RunTool = async (command, words) => {
  try {
    const { stdout } = await execute(command, [...words], {
      timeout: SECONDS_MAX * 1000,
      killSignal: 'SIGKILL',
      maxBuffer: 4 * 1024 * 1024,
      env: { ...process.env, LC_ALL: 'C' },
    });
    return stdout;
  } catch {
    return undefined;
  }
};
