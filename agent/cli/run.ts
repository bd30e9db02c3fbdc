import { CommanderError } from 'commander';
import { ConfigError } from '../config/config.ts';
import { Superseded } from '../heartbeat/heartbeat.ts';
import { AlreadyRunning } from '../lock/lock.ts';
import { createProgram } from './program.ts';
import { CliError, type Streams } from './streams.ts';

const FAILED = 1;
/** Trying again does not help: the words or the configuration have to change, or somebody has to look. */
const MISUSED = 2;

/** Does what the words after the command's name say, and answers what the process ends with. */
export async function run(words: string[], streams: Streams): Promise<number> {
  let code = 0;
  try {
    await createProgram(streams, (ended) => {
      code = ended;
    }).parseAsync(words, { from: 'user' });
    return code;
  } catch (error) {
    // Commander has told what it found already. What nobody expected ends with its trace.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED;
    if (error instanceof CliError) return told(streams, error, error.exitCode);
    if (error instanceof AlreadyRunning) return told(streams, error, FAILED);
    if (error instanceof ConfigError || error instanceof Superseded) return told(streams, error, MISUSED);
    throw error;
  }
}

function told({ tell }: Streams, { message }: Error, code: number): number {
  tell(message);
  return code;
}
