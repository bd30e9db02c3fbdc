import { CommanderError } from 'commander';
import { SignInError } from '../sign-in/sign-in-error.ts';
import { SigningError, type SigningErrorKind } from '../signing/signing-error.ts';
import { createProgram } from './program.ts';
import type { Streams } from './streams.ts';

const EXIT_CODES: Record<SigningErrorKind, number> = {
  failed: 1,
  usage: 2,
  auth: 3,
  not_found: 4,
  conflict: 5,
};

/** Does what the words after the command's name say, and answers what the process ends with. */
export async function run(words: string[], streams: Streams): Promise<number> {
  try {
    await createProgram(streams).parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has told what it found already. What nobody expected ends with its trace.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODES.usage;
    if (!(error instanceof SigningError || error instanceof SignInError)) throw error;
    streams.tell(`${error.message}\n${error.advice}`);
    return EXIT_CODES[error.kind];
  }
}
